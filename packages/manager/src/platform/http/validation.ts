// Validates requests against the schemas of their routes, whatever their Content-Type. Errors use the terms of the
// interface and name the first invalid field in the order of declaration.
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { badRequest } from '../errors.ts'
import { isLongerThan } from '../inputs/inputs.ts'

/** The part of a schema that error messages use. */
type SchemaPart = {
  title?: string
  type?: string
  maxLength?: number
  pattern?: string
  properties?: Record<string, TSchema>
  required?: string[]
  anyOf?: SchemaPart[]
}

/** Compiles a schema when its route is registered. Values stay unchanged: nothing is coerced, removed or defaulted. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema)
  return (value: unknown) =>
    validator.Check(value) ? true : { error: badRequest(describeProblem(schema, value, httpPart)) }
}

function describeProblem(schema: TSchema, value: unknown, httpPart: string | undefined): string {
  const objectSchema: SchemaPart = (schema as SchemaPart).anyOf?.find(isNotNull) ?? schema
  const { title = 'a JSON object', properties = {}, required = [] } = objectSchema
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return `send ${title}`
  for (const [name, field] of Object.entries(properties)) {
    const fieldValue = (value as Record<string, unknown>)[name]
    if (fieldValue === undefined ? !required.includes(name) : Value.Check(field, fieldValue)) continue
    const isRepeated = httpPart === 'querystring' && Array.isArray(fieldValue)
    return `${name} ${isRepeated ? 'must be given at most once' : describeFieldProblem(field, fieldValue)}`
  }
  return 'the request is malformed'
}

function describeFieldProblem(field: SchemaPart, fieldValue: unknown): string {
  const { title, type, maxLength = Infinity, pattern } = field.anyOf?.find(isNotNull) ?? field
  if (title !== undefined) return `must be ${title}`
  if (type !== 'string') return type === 'object' ? 'must be an object' : 'is malformed'
  const isAbsent = fieldValue === undefined || fieldValue === null
  if (typeof fieldValue !== 'string')
    return isAbsent && pattern === notBlankPattern ? 'is required' : 'must be a string'
  return isLongerThan(fieldValue, maxLength) ? `must have at most ${maxLength} characters` : 'is required'
}

/** Pattern for strings that must contain more than white space. */
export const notBlankPattern = '\\S'

const isNotNull = ({ type }: SchemaPart): boolean => type !== 'null'
