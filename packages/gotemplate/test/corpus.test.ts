// Tests that every case in the corpus produces the same output as Go, or fails in the same phase after the same
// partial output.
import { describe, expect, test } from 'vitest'
import { caseOf, readCorpus } from './corpus.ts'
import { render } from './render.ts'

const files = readCorpus()

describe.each(files)('$topic', (file) => {
  test(`${file.cases.length} templates come out as in Go`, () => {
    const wrong = file.cases.flatMap((entry) => {
      const { output, phase, error } = render(caseOf(file, entry))
      return output === entry.output && phase === entry.phase
        ? []
        : [{ ...entry, here: { output, phase, error } }]
    })
    expect(wrong).toEqual([])
  })
})

test('the corpus is large and knows each way to end', () => {
  const cases = files.flatMap((file) => file.cases)
  const count = (phase?: string): number => cases.filter((entry) => entry.phase === phase).length
  expect(cases.length).toBeGreaterThan(3000)
  expect(Math.min(count(), count('parse'), count('exec'))).toBeGreaterThan(300)
})
