// Runs a fixed number of fuzz cases if Go is installed. `npm run fuzz` runs any number of cases.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Oracle, oracleProgram } from '../oracle/oracle.ts'
import { compare } from './compare.ts'
import { cases } from './templates.ts'

const program = oracleProgram()

describe.skipIf(program === null)('beside Go', () => {
  test('3,000 random templates come out alike', async () => {
    const oracle = new Oracle(program ?? '')
    const batch = fc.sample(cases, { numRuns: 3000, seed: 20_261_114 })
    const comparisons = await Promise.all(batch.map((request) => compare(oracle, request)))
    await oracle.close()
    expect(comparisons.filter(({ verdict }) => verdict === 'disagrees')).toEqual([])
    const agreed = comparisons.filter(({ verdict }) => verdict === 'agrees')
    expect(agreed.length).toBeGreaterThan(2900)
    expect(agreed.filter(({ go }) => go.phase === undefined).length).toBeGreaterThan(500)
  })
})

describe('the comparison', () => {
  const request = { template: '{{.n}}', data: { n: 1 } }
  const oracle = (output: string, phase?: 'parse' | 'exec'): Pick<Oracle, 'ask'> => ({
    ask: () => Promise.resolve({ output, ...(phase === undefined ? {} : { phase }) }),
  })

  test('finds another output and another phase', async () => {
    expect((await compare(oracle('1'), request)).verdict).toBe('agrees')
    expect((await compare(oracle('2'), request)).verdict).toBe('disagrees')
    expect((await compare(oracle('1', 'exec'), request)).verdict).toBe('disagrees')
    expect((await compare(oracle('', 'parse'), { template: '{{' })).verdict).toBe('agrees')
    expect((await compare(oracle('', 'exec'), { template: '{{' })).verdict).toBe('disagrees')
  })
})
