// Tests how the problems of one input are collected: their paths, their order and their bounds.
import { describe, expect, test } from 'vitest'
import { AppError, badRequest, maxFieldProblems, notFound } from '../errors.ts'
import { checkAt, checkEach, checkFields, checkInput } from './fields.ts'
import { checkName, checkSlug } from './inputs.ts'

function catchError(work: () => unknown): AppError {
  try {
    work()
  } catch (error) {
    return error as AppError
  }
  throw new Error('nothing was thrown')
}
const reject = (message: string, path?: string) => (): never => {
  throw badRequest(message, path)
}

describe('checkFields', () => {
  test('returns the checked values under the names of the checks', () => {
    const checked = checkInput({ name: () => checkName('Acme'), port: () => 1, url: () => null })
    expect(checked).toEqual({ name: 'Acme', port: 1, url: null })
  })

  test('throws the first error with the problems of all checks, in their order', () => {
    const error = catchError(() =>
      checkInput({ name: () => checkName(''), enabled: () => true, slug: () => checkSlug('A') }),
    )
    expect(error.code).toBe('bad_request')
    expect(error.message).toBe('name must have 1 to 100 characters')
    expect(error.fields).toEqual([
      { path: 'input.name', message: 'name must have 1 to 100 characters' },
      { path: 'input.slug', message: expect.stringMatching(/^slug must be/) },
    ])
  })

  test('nests paths of fields and positions, and an empty name adds nothing', () => {
    const error = catchError(() =>
      checkFields({
        '': () => checkFields({ limit: reject('limit') }),
        list: () => checkEach(['a', '', 'b', ''], (name) => checkFields({ name: () => checkName(name) })),
        other: reject('other', 'inner'),
      }),
    )
    expect(error.message).toBe('limit')
    expect(error.fields.map(({ path }) => path)).toEqual([
      'limit',
      'list.1.name',
      'list.3.name',
      'other.inner',
    ])
  })

  test('throws any other error immediately', () => {
    const other = notFound('tenant')
    const bug = new TypeError('bug')
    for (const error of [other, bug]) {
      const fail = (): never => {
        throw error
      }
      expect(catchError(() => checkFields({ name: reject('name'), other: fail }))).toBe(error)
    }
  })

  test('keeps the hint of the first error, and lists a hint instead of a fixed text', () => {
    const error = catchError(() =>
      checkFields({
        url: () => {
          throw new AppError('bad_request', 'Invalid url', { hint: 'the port must not be 0' })
        },
      }),
    )
    expect([error.message, error.hint]).toEqual(['Invalid url', 'the port must not be 0'])
    expect(error.fields).toEqual([{ path: 'url', message: 'the port must not be 0' }])
  })
})

describe('bounds', () => {
  test('a long list is not checked beyond the number of problems that an error lists', () => {
    let checks = 0
    const error = catchError(() =>
      checkEach(Array.from({ length: 100_000 }, String), () => {
        checks += 1
        throw badRequest('no')
      }),
    )
    expect([error.fields.length, checks]).toEqual([maxFieldProblems, maxFieldProblems])
  })

  test('an error lists at most 50 problems, and each message is as short as the message of an error', () => {
    const names = Array.from({ length: 80 }, (_, index) => `f${index}`)
    const long = 'x'.repeat(100_000)
    const error = catchError(() => checkFields(Object.fromEntries(names.map((name) => [name, reject(long)]))))
    expect(error.fields.map(({ path }) => path)).toEqual(names.slice(0, 50))
    for (const { message } of error.fields) expect(message).toBe(error.message)
    expect(error.message).toHaveLength(501)
  })
})

test('checkAt gives every problem the same path', () => {
  const check = () => checkEach(['', ''], (name) => checkName(name, 'Key'))
  expect(checkAt('changes.2', () => 1)).toBe(1)
  const { fields } = catchError(() => checkAt('changes.2', check))
  expect(fields.map(({ path }) => path)).toEqual(['changes.2', 'changes.2'])
})
