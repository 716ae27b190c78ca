// An error that the page says in the reader's language: a message of the catalogues, and what its {names} stand for.

export class InputError extends RangeError {
  constructor(message, values = {}) {
    super(message.replace(/\{(\w+)\}/g, (_, name) => String(values[name])));
    this.said = { message, values };
  }
}

// For the catalogues, as in viewer/js/messages.js.
export const translatable = message => message;
