// Validates requests against the schemas of their routes, whatever their Content-Type. Errors use the terms of the
// interface and name the first invalid field in the order of declaration.
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { badRequest } from '../errors.ts'
import { isLongerThan } from '../inputs/inputs.ts'

/** The part of a schema that error messages use. */
type Form = {
  title?: string
  type?: string
  maxLength?: number
  pattern?: string
  properties?: Record<string, TSchema>
  required?: string[]
  anyOf?: Form[]
}

/** Compiles a schema when its route is registered. Values stay unchanged: nothing is coerced, removed or defaulted. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema)
  return (value: unknown) =>
    validator.Check(value) ? true : { error: badRequest(problemOf(schema, value, httpPart)) }
}

function problemOf(schema: TSchema, value: unknown, httpPart: string | undefined): string {
  const whole: Form = (schema as Form).anyOf?.find(isNotNull) ?? schema
  const { title = 'a JSON object', properties = {}, required = [] } = whole
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return `send ${title}`
  for (const [name, field] of Object.entries(properties)) {
    const given = (value as Record<string, unknown>)[name]
    if (given === undefined ? !required.includes(name) : Value.Check(field, given)) continue
    const isRepeated = httpPart === 'querystring' && Array.isArray(given)
    return `${name} ${isRepeated ? 'must be given at most once' : problemOfField(field, given)}`
  }
  return 'the request is malformed'
}

function problemOfField(field: Form, given: unknown): string {
  const { title, type, maxLength = Infinity, pattern } = field.anyOf?.find(isNotNull) ?? field
  if (title !== undefined) return `must be ${title}`
  if (type !== 'string') return type === 'object' ? 'must be an object' : 'is malformed'
  const isAbsent = given === undefined || given === null
  if (typeof given !== 'string') return isAbsent && pattern === notBlank ? 'is required' : 'must be a string'
  return isLongerThan(given, maxLength) ? `must have at most ${maxLength} characters` : 'is required'
}

/** Pattern of texts that must contain more than white space. */
export const notBlank = '\\S'

const isNotNull = ({ type }: Form): boolean => type !== 'null'
