// Building blocks of the random grammar.
import * as fc from 'fast-check'

export type Rule = fc.Arbitrary<string>

/** Generates one of these strings. */
export const pick = (...choices: string[]): Rule => fc.constantFrom(...choices)

/** Usually generates the first string, sometimes one of the others. */
export const often = (usual: string, ...others: string[]): Rule =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: pick(...others) })

/** Concatenates the output of these rules. */
export const joined = (...rules: Rule[]): Rule => fc.tuple(...rules).map((parts) => parts.join(''))
