// Random formats for printf: flags, widths, precisions, argument numbers and every verb.
import * as fc from 'fast-check'

const pick = (...choices: string[]): fc.Arbitrary<string> => fc.constantFrom(...choices)
const rarely = (usual: string, ...others: string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: pick(...others) })

const verbs = [
  ...Array.from('vTtbcdoOqxXUeEfFgGswz%!é'),
  'v',
  'v',
  'd',
  's',
  'q',
  'x',
  'f',
  'g',
  '😀',
  '',
  ' ',
  '.',
]
const directive = fc
  .tuple(
    fc.array(pick('+', '-', '#', '0', ' '), { maxLength: 3 }).map((flags) => flags.join('')),
    rarely('', '[1]', '[2]', '[3]', '[9]', '[x]', '[', '[]', '[-1]'),
    rarely('', '1', '5', '12', '*', '08', '[1]*', '99999999'),
    rarely('', '.', '.0', '.1', '.3', '.10', '.*', '.[2]*', '.25', '.-1'),
    rarely('', '[1]', '[2]'),
    pick(...verbs),
  )
  .map((parts) => `%${parts.join('')}`)

/** A format, quoted for a template. */
export const format: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: directive },
      { weight: 2, arbitrary: pick('x', ' ', '|', 'é', '%%', '%') },
    ),
    {
      maxLength: 3,
    },
  )
  .map((pieces) => JSON.stringify(pieces.join('')))
