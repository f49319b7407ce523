import assert from "node:assert/strict";
import { beforeEach, describe, it, mock } from "node:test";
import { askAgain } from "./again.js";

/** Lets what was resolved go on. */
const settled = async () => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
};

const pass = async (ms: number) => {
  for (let passed = 0; passed < ms; passed += 50) {
    mock.timers.tick(50);
    await settled();
  }
};

describe("asking again", () => {
  beforeEach((t) => {
    mock.timers.reset();
    mock.timers.enable({ apis: ["setTimeout", "Date"] });
    void t;
  });

  it("goes on during an incident: events in a row put no question off", async () => {
    let asked = 0;
    const again = askAgain(async () => void asked++);
    await settled();
    assert.equal(asked, 1);
    // Ten events each second, for ten seconds.
    for (let event = 0; event < 100; event += 1) {
      again.soon();
      await pass(100);
    }
    assert.ok(asked >= 9 && asked <= 12, `asked ${asked} times`);
    again.stop();
  });

  it("forgets no event that comes while an answer is on its way", async () => {
    const answers: (() => void)[] = [];
    const again = askAgain(() => new Promise((resolve) => answers.push(resolve)), { once: true });
    again.soon();
    await pass(5_000);
    assert.equal(answers.length, 1, "one question at a time");
    answers[0]?.();
    await pass(300);
    assert.equal(answers.length, 2);
    answers[1]?.();
    await pass(10_000);
    assert.equal(answers.length, 2, "nothing else happened");
    again.stop();
  });

  it("asks every two seconds, nothing while nobody looks, and nothing after its end", async () => {
    let asked = 0;
    let isPaused = false;
    const again = askAgain(async () => void asked++, { isPaused: () => isPaused });
    await pass(4_100);
    assert.equal(asked, 3);
    isPaused = true;
    await pass(10_000);
    assert.equal(asked, 3);
    isPaused = false;
    await pass(2_100);
    assert.equal(asked, 4);
    again.stop();
    again.now();
    await pass(10_000);
    assert.equal(asked, 4);
  });
});
