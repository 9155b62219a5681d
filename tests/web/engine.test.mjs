// The engine against what Python answers (SUFFICE_VECTORS), and against laws of its own.
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import { argmax, logSumExp, normalized, softmax } from "../../src/suffice/web/engine/bayes.js";
import { writtenNumber } from "../../src/suffice/web/engine/tables/cells.js";
import { parseTable, writeCsv } from "../../src/suffice/web/engine/tables/csv.js";
import { writtenDate } from "../../src/suffice/web/engine/tables/date_writing.js";
import { readDate, withParts } from "../../src/suffice/web/engine/tables/dates.js";
import { fitNormal, impliedTheta } from "../../src/suffice/web/engine/gda.js";
import { fitLogistic, formOf, linearPosterior, linearScores, perceptronStep } from "../../src/suffice/web/engine/linear.js";
import { cholesky, eigen2, lowerFactor, solveLower, solvePositive, solveUpper } from "../../src/suffice/web/engine/matrix.js";
import { emStep, expectation, firstComponents } from "../../src/suffice/web/engine/mixture.js";
import { answer, openModel } from "../../src/suffice/web/engine/models.js";
import { Moments, momentsByClass } from "../../src/suffice/web/engine/moments.js";
import { Random } from "../../src/suffice/web/engine/random.js";
import { betaInc, gammaTail, logGamma, predictiveTail } from "../../src/suffice/web/engine/special.js";
import { termsOf } from "../../src/suffice/web/engine/text.js";

const { pages, fits, functions } = JSON.parse(fs.readFileSync(process.env.SUFFICE_VECTORS, "utf8"));
const EXACT = 1e-10;

/** Assert that numbers agree, relative to those above 1. */
function close(found, expected, tolerance, what) {
  const gap = Math.abs(found - expected);
  assert.ok(gap <= tolerance * Math.max(1, Math.abs(expected)), `${what}: ${found} and ${expected}`);
}

for (const page of pages) {
  test(`${page.name}: posteriors`, async () => {
    const model = await openModel(page.content);
    page.rows.forEach((row, i) => {
      const shares = model.posterior(row).map(Math.exp);
      shares.forEach((p, c) => close(p, page.posterior[i][c], EXACT, `row ${i}, class ${c}`));
      close(shares.reduce((a, b) => a + b, 0), 1, 1e-12, "the sum");
    });
  });
  if (page.explained) {
    test(`${page.name}: reasons add up, and are Python's`, async () => {
      const model = await openModel(page.content);
      const { of, against, baseline, columns, contributions } = page.explained;
      of.forEach((c, i) => {
        const found = model.explain(page.rows[i], c, against[i]);
        const parts = new Map(found.parts.map((part) => [part.name, part.value]));
        close(found.baseline, baseline[i], 1e-9, `baseline of row ${i}`);
        columns.forEach((name, j) => close(parts.get(name) ?? 0, contributions[i][j], 1e-9, `${name} of row ${i}`));
        const logs = model.posterior(page.rows[i]);
        const sum = found.baseline + found.parts.reduce((total, part) => total + part.value, 0);
        close(sum, logs[c] - logs[against[i]], 1e-8, `the log odds of row ${i}`);
      });
    });
  }
  if (page.typicality) {
    test(`${page.name}: typicality`, async () => {
      const model = await openModel(page.content);
      page.rows.forEach((row, i) => {
        model.typicality(row).forEach((p, c) => close(p, page.typicality[i][c], EXACT, `row ${i}, class ${c}`));
      });
    });
  }
}

test("draws look like the classes they come from", async () => {
  const random = new Random(3);
  for (const page of pages) {
    const model = await openModel(page.content);
    if (model.sample === null || model.typicality === null) continue;
    let low = 0;
    const many = 60;
    for (let i = 0; i < many; i++) {
      const { row, code } = model.sample(random);
      const p = model.typicality(row)[code];
      assert.ok(p >= 0 && p <= 1, `${page.name}: ${p}`);
      low += p < 0.01 ? 1 : 0;
      const found = answer(model, row);
      assert.equal(found.of, argmax(found.shares));
    }
    // Coded categories are no normal columns, and are drawn as the nearest level.
    if (!page.name.includes("mixed")) assert.ok(low <= 8, `${page.name}: ${low} of ${many}`);
  }
});

for (const [form, expected] of Object.entries(fits.forms)) {
  test(`GDA of the form ${form}`, () => {
    const model = fitNormal(momentsByClass(fits.rows, fits.codes, 3), form);
    fits.asked.forEach((x, i) => {
      softmax(model.law.scores(x, model.logPriors)).forEach((p, c) => close(p, expected.posterior[i][c], EXACT, `row ${i}`));
      const joint = model.law.logDensities(x).map((log, c) => log + model.logPriors[c]);
      close(logSumExp(joint), expected.log_density[i], EXACT, "the evidence");
    });
  });
}

test("a shared covariance is linear, and its θ says the same", () => {
  const model = fitNormal(momentsByClass(fits.rows, fits.codes, 3), "shared");
  const form = formOf(impliedTheta(model));
  for (const x of fits.asked) {
    const shares = softmax(linearScores(form, x));
    softmax(model.law.scores(x, model.logPriors)).forEach((p, c) => close(p, shares[c], EXACT, "a share"));
  }
});

test("softmax regression", () => {
  const found = fitLogistic(fits.rows, fits.codes, 3);
  assert.ok(found.converged);
  const form = formOf(found.theta);
  fits.asked.forEach((x, i) => {
    linearPosterior(form, x).forEach((log, c) => close(Math.exp(log), fits.softmax[i][c], 1e-8, `row ${i}`));
  });
});

test("logistic regression with a penalty", () => {
  const some = fits.codes.flatMap((code, i) => (code < 2 ? [i] : []));
  const found = fitLogistic(some.map((i) => fits.rows[i]), some.map((i) => fits.codes[i]), 2, { penalty: 0.5 });
  fits.asked.forEach((x, i) => {
    linearPosterior(formOf(found.theta), x).forEach((log, c) => close(Math.exp(log), fits.binary.posterior[i][c], 1e-8, `row ${i}`));
  });
});

test("classes that a line parts have no finite weights, and that is said", () => {
  const found = fitLogistic([[0], [1], [2], [3]], [0, 0, 1, 1], 2);
  assert.equal(found.converged, false);
  assert.ok(found.theta.flat().every(Number.isFinite));
});

test("the perceptron corrects the same mistakes", () => {
  const { means, scale, predicted } = fits.perceptron;
  const z = (x) => x.map((value, j) => (value - means[j]) / scale[j]);
  const weights = [[0, 0, 0], [0, 0, 0]];
  for (let epoch = 0; epoch < 3; epoch++) {
    fits.rows.forEach((x, i) => fits.codes[i] < 2 && perceptronStep(weights, z(x), fits.codes[i]));
  }
  fits.asked.forEach((x, i) => {
    const scores = weights.map((w) => w[0] * z(x)[0] + w[1] * z(x)[1] + w[2]);
    assert.equal(argmax(scores), predicted[i], `row ${i}`);
  });
});

test("one step of EM", () => {
  const before = fitNormal(momentsByClass(fits.rows, fits.codes, 3), "per-class");
  const { model, logLikelihood } = emStep(before, fits.rows, "per-class");
  close(logLikelihood, fits.em.log_likelihood, EXACT, "the likelihood");
  fits.em.means.forEach((mean, c) => mean.forEach((m, j) => close(model.law.frame.means[c][j], m, EXACT, "a mean")));
  fits.em.covariances.forEach((S, c) => S.forEach((row, j) => row.forEach((v, k) => close(model.covariances[c][j][k], v, EXACT, "Σ"))));
  fits.em.shares.forEach((p, c) => close(Math.exp(model.logPriors[c]), p, EXACT, "a share"));
});

test("EM never goes down", () => {
  let model = firstComponents(fits.rows, 3, new Random(5));
  let before = -Infinity;
  for (let step = 0; step < 40; step++) {
    const found = emStep(model, fits.rows, "per-class");
    assert.ok(found.logLikelihood >= before - 1e-9, `step ${step}`);
    before = found.logLikelihood;
    model = found.model;
  }
  for (const shares of expectation(model, fits.rows).shares) close(shares.reduce((a, b) => a + b, 0), 1, 1e-12, "a sum");
});

test("special functions", () => {
  for (const [x, y] of functions.log_gamma) close(logGamma(x), y, 1e-13, `lnΓ(${x})`);
  for (const [a, b, x, y] of functions.beta) close(betaInc(a, b, x), y, 1e-12, `I_${x}(${a}, ${b})`);
  for (const [a, x, y] of functions.gamma_tail) close(gammaTail(a, x), y, 1e-13, `Q(${a}, ${x})`);
  for (const [q, d, nu, h, p] of functions.predictive) close(predictiveTail(q, d, nu, h), p, 1e-12, `tail ${q} ${d} ${nu}`);
});

test("terms and their numbers", () => {
  for (const [text, terms] of functions.terms) {
    assert.deepEqual(termsOf(text, [1, 2], true).map(({ term, key }) => [term, String(key)]), terms);
  }
});

test("numbers as people write them", () => {
  const reading = { blanks: [], currencies: functions.currencies };
  for (const [text, expected] of functions.written) {
    const found = writtenNumber(text, reading);
    const told = found === null ? null : [found.point, found.comma, found.currency, found.unit, found.percent];
    assert.deepEqual(told, expected, text);
  }
});

test("dates and times", () => {
  for (const [text, order, days] of functions.dates) {
    const number = (one) => writtenNumber(one, { blanks: [], currencies: functions.currencies })?.point ?? null;
    const found = readDate(text, order, functions.months, number);
    if (days === null) assert.equal(found, null, `${text} by ${order}`);
    else close(found, days, 1e-12, `${text} by ${order}`);
  }
  for (const day of [-40000, -1, 0, 19727, 60000]) assert.equal(readDate(writtenDate(day, "dmy", false), "dmy"), day);
  const columns = [{}, ...["month", "weekday", "hour"].map((part) => ({ made: { of: 0, part, clock: false } }))];
  assert.deepEqual(withParts([19727.75, null, null, null], columns).slice(1), ["Jan", "Fri", "18h"]);
  assert.deepEqual(withParts([-1, null, null, null], columns).slice(1), ["Dec", "Wed", "00h"]);
});

// Laws

function randomRows(random, n, d) {
  return Array.from({ length: n }, () => Array.from({ length: d }, () => random.normal() * 3 + 100));
}

test("moments add up, and rows that are taken back leave nothing behind", () => {
  const random = new Random(11);
  for (let trial = 0; trial < 50; trial++) {
    const d = 1 + Math.floor(random.uniform() * 4);
    const [a, b] = [randomRows(random, 5 + trial, d), randomRows(random, 3, d)];
    const both = Moments.of([...a, ...b], d);
    const sum = Moments.of(a, d).plus(Moments.of(b, d));
    const left = both.minus(Moments.of(b, d));
    for (const [x, y] of [[sum, both], [left, Moments.of(a, d)]]) {
      close(x.weight, y.weight, 0, "weight");
      x.mean.forEach((m, j) => close(m, y.mean[j], 1e-12, "mean"));
      x.scatter.forEach((row, j) => row.forEach((s, k) => close(s, y.scatter[j][k], 1e-9, "scatter")));
    }
  }
});

test("factors: LLᵀ is what was factored, solutions solve, and marginals are marginals", () => {
  const random = new Random(12);
  for (let trial = 0; trial < 50; trial++) {
    const d = 1 + Math.floor(random.uniform() * 6);
    const A = randomRows(random, d, d).map((row) => row.map((v) => v - 100));
    const S = A.map((row, i) => row.map((_, j) => A[i].reduce((sum, v, k) => sum + v * A[j][k], 0) + (i === j ? 0.1 : 0)));
    const L = cholesky(S);
    const b = A[0];
    const x = solvePositive(S, b);
    S.forEach((row, i) => close(row.reduce((sum, v, k) => sum + v * x[k], 0), b[i], 1e-8, "Sx = b"));
    const y = solveLower(L, solveUpper(L, b).map((_, i) => b[i]));
    L.forEach((row, i) => close(row.slice(0, i + 1).reduce((sum, v, k) => sum + v * y[k], 0), b[i], 1e-9, "Ly = b"));
    const kept = S.map((_, i) => i).filter((i) => i !== 0 || d === 1);
    const T = lowerFactor(kept.map((i) => L[i]));
    kept.forEach((i, a) => kept.forEach((j, c) => {
      close(T[a].reduce((sum, v, k) => sum + v * T[c][k], 0), S[i][j], 1e-10, "TTᵀ");
      assert.ok(a < c ? T[a][c] === 0 : true);
    }));
    assert.ok(T.every((row, i) => row[i] > 0));
  }
  assert.equal(cholesky([[1, 2], [2, 1]]), null);
  const { values, vectors } = eigen2([[2, 1], [1, 2]]);
  close(values[0], 3, 1e-12, "λ₁");
  close(values[1], 1, 1e-12, "λ₂");
  close(Math.abs(vectors[0][0]), Math.SQRT1_2, 1e-12, "v₁");
});

test("Bayes' rule is about differences: a shift of all scores changes nothing", () => {
  const random = new Random(13);
  for (let trial = 0; trial < 100; trial++) {
    const scores = Array.from({ length: 4 }, () => random.normal() * 50);
    const shift = random.normal() * 1e3;
    const [a, b] = [normalized(scores), normalized(scores.map((s) => s + shift))];
    a.forEach((log, c) => close(log, b[c], 1e-10, "log p"));
  }
  assert.deepEqual(normalized([-Infinity, 0]), [-Infinity, 0]);
  assert.deepEqual(softmax([-Infinity, -Infinity]), [0.5, 0.5]);
});

test("random numbers: the same from the same seed, and of the law they are of", () => {
  const [a, b] = [new Random(1), new Random(1)];
  for (let i = 0; i < 10; i++) assert.equal(a.uniform(), b.uniform());
  const random = new Random(42);
  const n = 20000;
  /** @param {() => number} draw */
  const moments = (draw) => {
    const x = Array.from({ length: n }, draw);
    const mean = x.reduce((s, v) => s + v, 0) / n;
    return [mean, x.reduce((s, v) => s + (v - mean) ** 2, 0) / n];
  };
  for (const [draw, mean, variance] of [
    [() => random.uniform(), 0.5, 1 / 12], [() => random.normal(), 0, 1],
    [() => random.gamma(0.4), 0.4, 0.4], [() => random.gamma(7), 7, 7],
    [() => random.poisson(0.7), 0.7, 0.7], [() => random.poisson(120), 120, 120],
  ]) {
    const [m, v] = moments(draw);
    assert.ok(Math.abs(m - mean) < 5 * Math.sqrt(variance / n), `mean ${m} of ${mean}`);
    assert.ok(Math.abs(v / variance - 1) < 0.12, `variance ${v} of ${variance}`);
  }
});

test("tables: whatever is written is read again", () => {
  const random = new Random(14);
  const pieces = ["a", '"', ",", "\n", "ä", " ", ";", "x'y", "0", "\r\n"];
  for (let trial = 0; trial < 200; trial++) {
    const width = 2 + Math.floor(random.uniform() * 3);
    const rows = Array.from({ length: 3 }, () => Array.from({ length: width }, () =>
      "c" + Array.from({ length: 4 }, () => pieces[Math.floor(random.uniform() * pieces.length)]).join("")));
    const names = rows[0].map((_, j) => `n${j}`);
    const text = writeCsv([names, ...rows]);
    const { parseRows } = { parseRows: (t) => parseTable(t) };
    assert.deepEqual(parseRows(text), { names, rows });
  }
  assert.match(writeCsv([["=1+1", "-5", "@x"]]), /^'=1\+1,-5,'@x/);
  assert.deepEqual(parseTable("a;b\r\n1;2\r\n"), { names: ["a", "b"], rows: [["1", "2"]] });
  assert.deepEqual(parseTable("a\tb\n\t2\n"), { names: ["a", "b"], rows: [["", "2"]] });
  assert.throws(() => parseTable("a,b\n1,2,3\n"), /Row 1 has 3 cells/);
  assert.throws(() => parseTable(""), /nothing/);
});
