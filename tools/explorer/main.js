// The image is shown before any attention is decoded.
async function start() {
  try {
    await decode();
  } catch (error) {
    $("status").textContent = `The maps cannot be shown: ${error.message}.`;
    $("status").classList.add("problem");
    return;
  }
  refresh();
}

window.addEventListener("hashchange", () => {
  fromHash();
  refresh();
});
fromHash();
requestAnimationFrame(() => setTimeout(start, 0));
