"""Look here: a picture of what the teacher of a class has open, on the pupils' screens until it is released.

Pupils have no access to the app, so nothing of it can be sent but how it looks. The browser itself takes the picture of
the tab that the teacher agrees to share: whatever the page is, it is what the teacher sees and nothing more.
"""

from __future__ import annotations

import base64
import binascii

import streamlit as st

from headlight.language import gettext
from server.classroom import codes
from server.classroom.classes import Classes, ClassRefusal, store
from server.classroom.store import UNAVAILABLE, ClassNotFound
from ui.widgets.buttons import BUTTON_CSS

CLASS_ERRORS = (ClassNotFound, ClassRefusal, *UNAVAILABLE)  # of whatever is asked of a class
# The secrets of the classes that this session teaches, by code. No address has them: a projector shows the address bar.
_SECRETS = "class-secrets"
_KEY = "look-here"
_BUTTON = st.components.v2.component(
    "headlight_look_here",
    html='<button type="button"></button><p role="status"></p>',
    css=BUTTON_CSS
    + """
p { margin: 0.3rem 0 0; font-size: 0.87rem; color: var(--st-text-color); }
p:empty { display: none; }
""",
    js="""
const WIDEST = 1600;  // pixels: a phone shows no more

export default function ({ parentElement, data, setTriggerValue }) {
  const button = parentElement.querySelector("button"), said = parentElement.querySelector("p");
  button.textContent = data.label;
  button.title = data.title;
  button.onclick = async () => {
    said.textContent = "";
    if (!navigator.mediaDevices?.getDisplayMedia) {
      said.textContent = data.insecure;
      return;
    }
    let stream;
    try {
      stream = await navigator.mediaDevices.getDisplayMedia({ video: true, preferCurrentTab: true });
      const video = document.createElement("video");
      video.muted = true;
      video.srcObject = stream;
      await video.play();
      await new Promise(done => setTimeout(done, 400));  // the browser's own question goes away first
      const scale = Math.min(1, WIDEST / video.videoWidth), canvas = document.createElement("canvas");
      canvas.width = Math.round(video.videoWidth * scale);
      canvas.height = Math.round(video.videoHeight * scale);
      canvas.getContext("2d").drawImage(video, 0, 0, canvas.width, canvas.height);
      const title = document.querySelector("h1")?.innerText ?? "Headlight";
      setTriggerValue("picture", { title, png: canvas.toDataURL("image/png").split(",")[1] });
    } catch (error) {
      const failed = data.failed.replace("{error}", error.message);
      said.textContent = error.name === "NotAllowedError" ? data.refused : failed;
    } finally {
      stream?.getTracks().forEach(track => track.stop());
    }
  };
}
""",
)


def look_here() -> None:
    """Draw the button where this session teaches a class."""
    code = codes.parse(st.session_state.get("parameters", {}).get("code"))
    if code is None or not (secret := held_secret(code)):
        return
    try:
        snapshot, _ = Classes(store()).counts(code, secret)
    except CLASS_ERRORS:
        return  # the Lessons page says it
    with st.sidebar:
        st.caption(gettext("Class {code}", code=codes.spelt(code)))
        _BUTTON(data=_texts(), key=_KEY, on_picture_change=lambda: _look(code, secret))
        if refused := st.session_state.pop("look-refused", None):
            st.warning(refused, icon=":material/error:")
        if snapshot.state.looking:
            st.button(gettext("Release the screens"), width="stretch", on_click=_release, args=(code, secret))


def _texts() -> dict[str, str]:
    return {
        "label": gettext("Look here"),
        "title": gettext("Shows a picture of this page on the pupils’ screens"),
        "insecure": gettext("Browsers share a tab only over https or at localhost: open this page so."),
        "refused": gettext("Nothing was shared."),
        "failed": gettext("The browser made no picture: {error}"),
    }


def _look(code: str, secret: str) -> None:
    match st.session_state[_KEY].get("picture"):
        case {"title": str(title), "png": str(text)}:
            try:
                Classes(store()).look(code, secret, title, base64.b64decode(text, validate=True))
            except (*CLASS_ERRORS, binascii.Error) as error:
                st.session_state["look-refused"] = gettext("The picture was not shown. {error}", error=error)


def _release(code: str, secret: str) -> None:
    try:
        Classes(store()).release(code, secret)
    except CLASS_ERRORS as error:
        st.session_state["look-refused"] = str(error)


def hold_secret(code: str, secret: str) -> None:
    st.session_state.setdefault(_SECRETS, {})[code] = secret


def held_secret(code: str) -> str:
    """Return the secret of whoever teaches that class, or "" where this session has none."""
    return str(st.session_state.get(_SECRETS, {}).get(code, ""))


def drop_secret(code: str) -> None:
    st.session_state.get(_SECRETS, {}).pop(code, None)
