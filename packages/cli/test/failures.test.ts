// Tests the messages for errors with several invalid values.
import { GraphqlError, ResponseError } from '@manager/client'
import { expect, test } from 'vitest'
import { exitCodes } from '../src/failures.ts'
import { getOutcome } from '../src/outcomes.ts'

const { signal } = new AbortController()
const name = { path: 'input.name', message: 'name must have 1 to 100 characters' }
const slug = { path: 'input.slug', message: 'slug must be lower-case' }
const createError = (...fields: (typeof name)[]) =>
  new GraphqlError([{ message: name.message, extensions: { code: 'bad_request', fields } }])

test('several invalid values have one line each, one value only the message', () => {
  const text = `The Manager rejected the request: ${name.message}`
  expect(getOutcome(createError(), signal)).toEqual({ exitCode: exitCodes.failed, text })
  expect(getOutcome(createError(name), signal).text).toBe(text)
  const lines = `\ninput.name: ${name.message}\ninput.slug: ${slug.message}`
  expect(getOutcome(createError(name, slug), signal).text).toBe(text + lines)
  const rest = new ResponseError(name.message, { status: 400, fields: [name, slug] })
  expect(getOutcome(rest, signal).text).toBe(text + lines)
})
