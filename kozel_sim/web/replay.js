// One replay: shows and hides what Python has drawn. Several on a page know nothing of each other.
(() => {
  "use strict";
  const PAUSE = 1100; // milliseconds between two events while playing

  function start(root) {
    root.dataset.ready = "1";
    const data = JSON.parse(root.querySelector(".kz-data").textContent);
    const one = (name) => root.querySelector(".kz-" + name);
    const all = (name, inside) => [...(inside || root).querySelectorAll(".kz-" + name)];
    const boards = all("board");
    const tables = all("seats");
    const [first, back, play, next, last] = all("button");
    const slider = one("slider");
    const pick = one("pick");
    const view = one("view");
    let round = 0; // place in the list
    let at = 0; // events seen: 0 is the deal
    let timer = null;

    const told = () => data.rounds[round];
    const length = () => told().events.length;
    const open = (seat) => view.value === "" || +view.value === seat;

    function element(tag, words, name) {
      const made = document.createElement(tag);
      if (words !== undefined) made.textContent = words;
      if (name) made.className = name;
      return made;
    }

    const words = (event) => (event.h && !open(event.s) ? event.h : event.w);

    function say() {
      const now = told().moments[at];
      const event = at ? told().events[at - 1] : null;
      const done = event ? `Seat ${event.s} ${words(event)}.` : "The hands are dealt.";
      let then;
      if (now.s === null) then = told().outcome;
      else if (now.m.length > 1) {
        then = `Seat ${now.s} is to act` + (open(now.s) ? `: ${now.m.length} legal moves.` : ".");
      } else if (now.m.length === 1 && !open(now.s)) then = `Seat ${now.s} is to act.`;
      else if (now.m.length === 1) then = `Seat ${now.s} has one legal move.`;
      else if (told().events[at].d) then = `Seat ${now.s} cannot play and must draw.`;
      else then = `Seat ${now.s} can neither play nor draw and must pass.`;
      one("say").replaceChildren(element("b", done), " ", element("span", then));
    }

    function board(part) {
      for (const tile of part.querySelectorAll("[data-e]")) {
        tile.classList.toggle("kz-on", +tile.dataset.e < at);
        tile.classList.toggle("kz-new", +tile.dataset.e === at - 1);
      }
      for (const end of part.querySelectorAll("[data-a]")) {
        end.classList.toggle("kz-on", +end.dataset.a < at && at <= +end.dataset.b);
      }
    }

    function seats(part) {
      const now = told().moments[at];
      const over = at === length();
      const legal = new Set(now.m.flatMap((move) => move.t));
      for (const seat of part.querySelectorAll("[data-seat]")) {
        const number = +seat.dataset.seat;
        const faceUp = open(number);
        let count = 0;
        let pips = 0;
        for (const tile of seat.querySelectorAll("[data-t]")) {
          const here = +tile.dataset.a < at && at <= +tile.dataset.b;
          tile.toggleAttribute("hidden", !here);
          tile.classList.toggle("kz-back", !faceUp);
          tile.classList.toggle("kz-legal", faceUp && now.s === number && legal.has(tile.dataset.t));
          if (here) {
            count += 1;
            pips += +tile.dataset.p;
          }
        }
        seat.classList.toggle("kz-act", now.s === number);
        const held = `${count} tile${count === 1 ? "" : "s"}`;
        all("held", seat)[0].textContent = faceUp ? `${held}, ${pips} pips` : held;
        all("account", seat)[0].textContent = "account: " + told().accounts[+over][number];
        const past = told().events.slice(0, at).filter((event) => event.s === number);
        const did = past.length ? words(past[past.length - 1]) : "has done nothing yet";
        all("did", seat)[0].textContent = did;
      }
      for (const pot of all("pot", part)) {
        pot.textContent = told().pot[+over];
      }
      for (const bazaar of all("bazaar", part)) {
        let count = 0;
        for (const tile of bazaar.querySelectorAll("[data-t]")) {
          const here = at <= +tile.dataset.b;
          tile.toggleAttribute("hidden", !here);
          tile.classList.toggle("kz-back", view.value !== "");
          count += here;
        }
        all("held", bazaar)[0].textContent = `${count} tile${count === 1 ? "" : "s"}`;
      }
    }

    function moves() {
      const now = told().moments[at];
      const box = one("moves");
      box.replaceChildren();
      if (now.s === null || !open(now.s) || !now.m.length) return;
      const stages = now.g || [];
      const table = element("table");
      const head = element("tr");
      head.append(element("th", `Legal moves of seat ${now.s}`));
      // Long names may be broken behind an underscore.
      const name = (stage) => data.stages[stage.n].replaceAll("_", "_\u200b");
      stages.forEach((stage, i) => head.append(element("th", `${i + 1}. ${name(stage)}`)));
      head.append(element("th", "played"));
      const top = element("thead");
      top.append(head);
      const body = element("tbody");
      now.m.forEach((move, i) => {
        const row = element("tr", undefined, i === now.c ? "kz-chosen" : "");
        row.append(element("td", move.w));
        for (const stage of stages) {
          const score = stage.v[i];
          const kept = stage.k[i];
          const mark = score === null ? "–" : score + (kept ? " ✓" : "");
          row.append(element("td", mark, kept ? "" : "kz-out"));
        }
        row.append(element("td", i === now.c ? "◀" : ""));
        body.append(row);
      });
      table.append(top, body);
      const note = { function: "Its policy is a function: only the move it chose is known.",
        unknown: "Its policy is not known here: only the move it chose is." }[now.p];
      const ladder = stages.length
        ? "Scores by the stages of its policy: ✓ is kept, – was dropped before; luck breaks a tie."
        : "Its policy chooses at random here.";
      box.append(table);
      if (now.m.length > 1) box.append(element("p", note || ladder, "kz-note"));
    }

    function draw() {
      for (const parts of [boards, tables]) {
        parts.forEach((part, i) => part.toggleAttribute("hidden", i !== round));
      }
      board(boards[round]);
      seats(tables[round]);
      moves();
      say();
      slider.max = length();
      slider.value = at;
      slider.setAttribute("aria-valuetext", `event ${at} of ${length()}`);
      one("count").textContent = `${at} / ${length()}`;
      pick.value = round;
      const atStart = !round && !at;
      const atEnd = round === boards.length - 1 && at === length();
      for (const [button, off] of [[first, !at], [back, atStart], [next, atEnd],
        [last, at === length()]]) button.disabled = off;
      if (atEnd) stop();
    }

    function step(by) {
      if (at + by > length()) {
        if (round < boards.length - 1) [round, at] = [round + 1, 0];
      } else if (at + by < 0) {
        if (round) {
          round -= 1;
          at = length();
        }
      } else at += by;
      draw();
    }

    function go(to) {
      at = to;
      draw();
    }

    function stop() {
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    }

    function toggle() {
      if (timer !== null) return stop();
      if (round === boards.length - 1 && at === length()) [round, at] = [0, 0];
      play.textContent = "Pause";
      timer = setInterval(() => (root.isConnected ? step(1) : stop()), PAUSE);
      draw();
    }

    const keys = {
      ArrowRight: () => step(1),
      ArrowLeft: () => step(-1),
      Home: () => go(0),
      End: () => go(length()),
      " ": toggle,
    };
    function press(event) {
      const where = event.target.tagName;
      if (event.ctrlKey || event.altKey || event.metaKey || where === "SELECT") return;
      if (!(event.key in keys) || (event.key === " " && where === "BUTTON")) return;
      event.preventDefault();
      event.stopPropagation();
      keys[event.key]();
    }
    root.addEventListener("keydown", press);
    // 3.14 opens round 3 after 14 events: the end of a page's address, or what holds the replay says.
    function follow(place) {
      const [, number, event] = /^#?(\d+)\.(\d+)$/.exec(place) || [];
      const found = data.rounds.findIndex((each) => each.n === +number);
      if (found < 0) return;
      round = found;
      at = Math.min(+event, length());
    }
    follow(root.dataset.at || "");
    if (root.dataset.page) {
      follow(location.hash);
      window.addEventListener("hashchange", () => {
        follow(location.hash);
        draw();
      });
      document.addEventListener("keydown", (event) => {
        if (event.target === document.body) press(event);
      });
    }
    first.addEventListener("click", keys.Home);
    back.addEventListener("click", keys.ArrowLeft);
    play.addEventListener("click", toggle);
    next.addEventListener("click", keys.ArrowRight);
    last.addEventListener("click", keys.End);
    slider.addEventListener("input", () => go(+slider.value));
    pick.addEventListener("change", () => {
      round = +pick.value;
      go(0);
    });
    view.addEventListener("change", draw);
    draw();
  }

  document.querySelectorAll(".kz-replay:not([data-ready])").forEach(start);
})();
