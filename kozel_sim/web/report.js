// Replays: #replay-1-fish opens that dialog, #replay-1-fish/3.14 in round 3 after 14 events.
(() => {
  "use strict";
  let inside = false; // whether the page before this address is the report itself
  const left = new Set(); // dialogs that were opened and are to give the focus back

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const opened = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(opened).text();
  }

  async function fill(dialog, place) {
    const stage = dialog.querySelector(".stage");
    const address = location.hash;
    try {
      const html = await unpack(dialog.querySelector(".packed").textContent);
      if (!dialog.open || location.hash !== address) return;
      stage.innerHTML = html;
    } catch {
      stage.textContent = "This browser is too old to unpack the replay; the command plays it.";
      return;
    }
    const replay = stage.firstElementChild;
    replay.dataset.at = place || dialog.dataset.at;
    // Scripts that come as text do not run unless they are made anew.
    for (const old of stage.querySelectorAll("script:not([type])")) {
      const made = document.createElement("script");
      made.textContent = old.textContent;
      old.replaceWith(made);
    }
    replay.focus({ preventScroll: true });
  }

  // Following an address takes the focus away; who comes back finds it on the replay's link.
  const refocus = (dialog) => document.querySelector(`a[href="#${dialog.id}"]`).focus();

  function follow() {
    const [name, place] = location.hash.slice(1).split("/");
    const wanted = document.getElementById(name);
    for (const dialog of document.querySelectorAll("dialog")) {
      if (dialog === wanted || !left.delete(dialog)) continue;
      if (dialog.open) dialog.close();
      refocus(dialog);
    }
    if (!(wanted instanceof HTMLDialogElement)) return;
    if (!wanted.open) wanted.showModal();
    left.add(wanted);
    fill(wanted, place);
  }

  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("close", () => {
      dialog.querySelector(".stage").replaceChildren("Unpacking …");
      // By Escape: the address goes back, too.
      if (location.hash.slice(1).split("/")[0] !== dialog.id) return;
      if (inside) return history.back();
      history.replaceState(null, "", "#matches");
      follow();
    });
  }
  window.addEventListener("hashchange", () => {
    inside = true;
    follow();
  });
  follow();
})();
