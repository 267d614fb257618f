// Building blocks of the random grammar.
import * as fc from 'fast-check'

export type Rule = fc.Arbitrary<string>

/** One of these. */
export const pick = (...choices: string[]): Rule => fc.constantFrom(...choices)

/** Usually the first, sometimes one of the others. */
export const often = (usual: string, ...others: string[]): Rule =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: pick(...others) })

/** These one after the other. */
export const joined = (...rules: Rule[]): Rule => fc.tuple(...rules).map((parts) => parts.join(''))
