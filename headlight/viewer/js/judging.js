// What a guess is worth where no server judges it: headlight/teaching/lessons/judging.py in JavaScript.

const CLOSE_TOLERANCE = 0.1, // of a slider's range: a number so near counts as right
  SAME_ROW_PERCENT = 75; // per cent of overlap from which a drawn row counts as right

// { right, score from 0 to 1, sentence }; of a row also its overlap, that of spreading evenly, and the difference.
function judge(posed, truth, guess) {
  const judges = {
    word: judgeWord,
    row: judgeRow,
    head: judgeHead,
    number: judgeNumber,
    choice: judgeChoice,
    order: judgeOrder,
  };
  return judges[posed.ask](posed, truth, guess);
}

function judgeWord({ labels }, { row }, guess) {
  const most = Math.max(...row),
    right = row[guess] === most,
    values = { word: labels[guess], share: percent(row[guess] / 100) };
  const sentence = right
    ? gettext("\u201c{word}\u201d gets {share}, the most.", values)
    : gettext("\u201c{word}\u201d gets {share}, not the most.", values);
  return { right, score: row[guess] / most, sentence };
}

function judgeRow(_posed, { answer: row }, guess) {
  const common = other => row.reduce((sum, share, i) => sum + Math.min(share, other[i]), 0),
    overlap = Math.round(common(guess)),
    evenly = Math.round(common(row.map(() => 100 / row.length)));
  const sentence = gettext("{common} of your row lies where the head looks; shared out evenly, it would be {evenly}.", {
    common: percent(overlap / 100),
    evenly: percent(evenly / 100),
  });
  return {
    right: overlap >= SAME_ROW_PERCENT,
    score: overlap / 100,
    sentence,
    overlap,
    evenly,
    difference: guess.map((mine, i) => Math.round(10 * (mine - row[i])) / 10),
  };
}

function judgeHead(_posed, { answer, values, smallest }, [layer, head]) {
  const flat = values.flat().sort((one, other) => (smallest ? one - other : other - one)),
    place = flat.indexOf(values[layer - 1][head - 1]) + 1,
    right = layer === answer[0] && head === answer[1];
  const sentence = right
    ? gettext("That head it is.")
    : gettext("Of {heads} heads, yours comes {rank}.", { heads: flat.length, rank: ordinal(place) });
  return { right, score: 1 - (place - 1) / flat.length, sentence, place };
}

function judgeNumber({ unit, least, most, step }, { answer }, guess) {
  const off = guess - answer,
    size = Math.abs(off),
    // Two shares lie some points apart: 20 % is no 10 % more than 10 %.
    distance = `${lessonNumber(size)} ${unit === "%" ? gettext("points") : unit}`.trimEnd();
  const apart = off > 0 ? gettext("{distance} too high.", { distance }) : gettext("{distance} too low.", { distance });
  return {
    right: size <= Math.max(CLOSE_TOLERANCE * (most - least), step / 2),
    score: Math.max(0, 1 - size / (most - least)),
    sentence: size < step / 2 ? gettext("Exactly.") : apart,
  };
}

function judgeChoice(_posed, { answer, betrays }, guess) {
  const right = guess === answer,
    betrayed = right ? null : betrays?.[guess];
  const sentence = right ? gettext("As you expected.") : gettext("Not as you expected.");
  return { right, score: +right, sentence, ...(betrayed && { betrays: betrayed }) };
}

function judgeOrder(_posed, { answer }, guess) {
  const pairs = guess.flatMap((first, i) => guess.slice(i + 1).map(second => [first, second])),
    held = pairs.filter(([first, second]) => answer.indexOf(first) < answer.indexOf(second)).length,
    right = held === pairs.length;
  const sentence = right
    ? gettext("In that order.")
    : gettext("{number} of {all} pairs stand in the right order.", { number: held, all: pairs.length });
  return { right, score: held / pairs.length, sentence };
}
