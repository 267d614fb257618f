// Checks the values of one input together, so that one error names every value that breaks a rule. A check returns the
// checked value, or throws `bad_request`.
import { AppError, type FieldProblem, maxFieldProblems } from '../errors.ts'

type Checks = Record<string, () => unknown>
type CheckedValues<T extends Checks> = { [Name in keyof T]: ReturnType<T[Name]> }

/**
 * Runs every check, and returns the values under the names of the checks. If checks fail, throws the first error with
 * the problems of all failed checks. The path of each problem starts with the name of its check, unless that name is
 * empty.
 */
export function checkFields<T extends Checks>(checks: T): CheckedValues<T> {
  const failures = createFailures()
  const entries = Object.entries(checks).map(([name, check]) => [name, failures.run(name, check)])
  failures.throwIfAny()
  return Object.fromEntries(entries) as CheckedValues<T>
}

/** Works like `checkFields`, for the fields of the GraphQL argument `input`. */
export const checkInput = <T extends Checks>(checks: T): CheckedValues<T> =>
  checkFields({ input: () => checkFields(checks) }).input

/** Checks every value of a list; the paths of the problems start with the position of the value. */
export function checkEach<T, Result>(values: readonly T[], check: (value: T) => Result): Result[] {
  const failures = createFailures()
  const results: (Result | undefined)[] = []
  for (const [index, value] of values.entries()) {
    results.push(failures.run(String(index), () => check(value)))
    if (failures.count() >= maxFieldProblems) break
  }
  failures.throwIfAny()
  return results as Result[]
}

/** Runs a check of values that are not part of the input; its problems get the path instead of their own paths. */
export function checkAt<Result>(path: string, check: () => Result): Result {
  try {
    return check()
  } catch (error) {
    if (!isBadRequest(error)) throw error
    throw withFields(
      error,
      listProblems(error).map(({ message }) => ({ path, message })),
    )
  }
}

function createFailures() {
  let firstError: AppError | undefined
  const problems: FieldProblem[] = []
  return {
    run: <Result>(name: string, check: () => Result): Result | undefined => {
      try {
        return check()
      } catch (error) {
        if (!isBadRequest(error)) throw error
        firstError ??= error
        for (const { path, message } of listProblems(error))
          problems.push({ path: [name, path].filter((part) => part !== '').join('.'), message })
        return undefined
      }
    },
    count: (): number => problems.length,
    throwIfAny: (): void => {
      if (firstError !== undefined) throw withFields(firstError, problems)
    },
  }
}

const isBadRequest = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'bad_request'

/** Returns the problems of an error. If the message text is fixed, its hint explains the rule. */
const listProblems = ({ fields, hint, message }: AppError): readonly FieldProblem[] =>
  fields.length > 0 ? fields : [{ path: '', message: hint ?? message }]

const withFields = (error: AppError, fields: readonly FieldProblem[]): AppError =>
  new AppError(error.code, error.message, {
    cause: error.cause,
    logMessage: error.logMessage,
    hint: error.hint,
    fields,
  })
