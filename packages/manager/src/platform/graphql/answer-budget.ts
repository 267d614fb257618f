// What one answer may hold of contents that can be large: settings and language packs. Whoever reads them asks for the
// size first and charges it here, so that many fields of one document cannot ask for more than a process can give.
import { badRequest } from '../errors.ts'

const maxAnswerBytes = 16 * 1_048_576

const spent = new WeakMap<object, number>()

export type Charge = (bytes: number) => void

/** A function that throws once the contents asked for in this request are too much for one answer. */
export const answerBudget =
  (context: object): Charge =>
  (bytes) => {
    const total = (spent.get(context) ?? 0) + bytes
    spent.set(context, total)
    if (total > maxAnswerBytes)
      throw badRequest(
        `the contents in this answer would have more than ${maxAnswerBytes} bytes; ask for smaller pages or fewer fields`,
      )
  }
