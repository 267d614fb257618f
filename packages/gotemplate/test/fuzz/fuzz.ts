// `npm run fuzz -w gotemplate -- --runs 200000 --seed 1`: random templates through this package and through Go.
import { parseArgs } from 'node:util'
import * as fc from 'fast-check'
import { Oracle, oracleProgram } from '../oracle/oracle.ts'
import { type Comparison, compare } from './compare.ts'
import { cases } from './templates.ts'

const BATCH = 1000
const SHOWN = 20

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
  },
})
const runs = Number(values.runs)
const firstSeed = Number(values.seed)
const program = oracleProgram()
if (program === null) throw new Error('fuzzing compares with Go, and there is no Go here')

const oracle = new Oracle(program)
const counts = { agrees: 0, disagrees: 0, skipped: 0 }
const phases = { rendered: 0, parse: 0, exec: 0 }
const started = performance.now()
process.stdout.write(`${runs} templates from seed ${firstSeed}\n`)
for (let done = 0; done < runs; done += BATCH) {
  const seed = firstSeed + done
  const batch = fc.sample(cases, { numRuns: Math.min(BATCH, runs - done), seed })
  const comparisons = await Promise.all(batch.map((request) => compare(oracle, request)))
  let first: Comparison | null = null
  for (const comparison of comparisons) {
    counts[comparison.verdict]++
    phases[comparison.go.phase ?? 'rendered']++
    if (comparison.verdict === 'disagrees') first ??= comparison
  }
  if (first !== null && counts.disagrees <= SHOWN) await showSmallest(seed, batch.length)
  const seconds = (performance.now() - started) / 1000
  process.stdout.write(
    `${done + batch.length} in ${seconds.toFixed(0)} s: ${JSON.stringify({ ...counts, ...phases })}\n`,
  )
}
await oracle.close()
process.stdout.write(`disagreements: ${counts.disagrees} of ${runs}\n`)
process.exitCode = counts.disagrees === 0 ? 0 : 1

/** Lets fast-check make the first disagreement of a batch smaller, and prints it. */
async function showSmallest(seed: number, numRuns: number): Promise<void> {
  const agree = fc.asyncProperty(
    cases,
    async (request) => (await compare(oracle, request)).verdict !== 'disagrees',
  )
  const { counterexample } = await fc.check(agree, { seed, numRuns })
  const [smallest] = counterexample ?? []
  if (smallest === undefined) return
  const { go, here } = await compare(oracle, smallest)
  process.stdout.write(
    `${JSON.stringify(smallest)}\n  Go:   ${JSON.stringify(go)}\n  here: ${JSON.stringify(here)}\n`,
  )
}
