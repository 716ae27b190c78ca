// One view as a Streamlit component. `mount` is added below by the wrapper that knows which view it is.
function component(mount, { data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".hl");
  // A pick is an event and over once it was answered; what is shown is a state that lasts.
  const send = { pick: setTriggerValue, shown: setStateValue, held: setTriggerValue };
  return mount(root, unpack(data), (name, value) => send[name](name, value)).unmount;
}
