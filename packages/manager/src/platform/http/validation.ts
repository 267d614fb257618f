// Validates requests against the schemas of their routes, regardless of their Content-Type. Errors use the terms of the
// interface and name all invalid fields in the order of declaration.
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { AppError, badRequest, maxFieldProblems } from '../errors.ts'
import { isLongerThan } from '../inputs/inputs.ts'

/** The part of a schema that error messages use. */
type SchemaPart = {
  title?: string
  type?: string
  maxLength?: number
  maxItems?: number
  pattern?: string
  items?: TSchema
  properties?: Record<string, TSchema>
  required?: string[]
  anyOf?: SchemaPart[]
}

/** Compiles a schema when its route is registered. Values stay unchanged: nothing is coerced, removed or defaulted. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema)
  return (value: unknown) => (validator.Check(value) ? true : { error: createError(schema, value, httpPart) })
}

/** Checks every field again: the compiled validator stops at the first problem and does not return its path. */
function createError(schema: TSchema, value: unknown, httpPart: string | undefined): AppError {
  const { title = 'a JSON object', properties = {}, required = [] } = getValueSchema(schema)
  if (!isObject(value)) return badRequest(`send ${title}`)
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const fieldValue = value[name]
    if (fieldValue === undefined ? !required.includes(name) : Value.Check(field, fieldValue)) return []
    const isRepeated = httpPart === 'querystring' && Array.isArray(fieldValue)
    const problem = isRepeated ? 'must appear at most once' : describeFieldProblem(field, fieldValue)
    const paths = findInvalidPaths(field, fieldValue, name).take(maxFieldProblems)
    return paths.map((path) => ({ path, message: `${name} ${problem}` })).toArray()
  })
  return new AppError('bad_request', fields[0]?.message ?? 'the request is malformed', { fields })
}

/** Yields the paths of the invalid values in a list or an object, or the path itself if no part of it is invalid. */
function* findInvalidPaths(schema: SchemaPart, value: unknown, path: string): Generator<string> {
  let isPartInvalid = false
  for (const [name, partSchema, part] of listParts(getValueSchema(schema), value))
    if (!Value.Check(partSchema, part)) {
      isPartInvalid = true
      yield* findInvalidPaths(partSchema, part, `${path}.${name}`)
    }
  if (!isPartInvalid) yield path
}

function listParts(
  { items, maxItems = Infinity, properties = {}, required = [] }: SchemaPart,
  value: unknown,
): [string, TSchema, unknown][] {
  if (Array.isArray(value))
    return items === undefined || value.length > maxItems
      ? []
      : value.map((item: unknown, index) => [String(index), items, item])
  if (!isObject(value)) return []
  return Object.entries(properties)
    .filter(([name]) => value[name] !== undefined || required.includes(name))
    .map(([name, field]) => [name, field, value[name]])
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** Returns the schema of the value if it may also be null. */
const getValueSchema = (schema: SchemaPart): SchemaPart => schema.anyOf?.find(isNotNull) ?? schema

function describeFieldProblem(field: SchemaPart, fieldValue: unknown): string {
  const { title, type, maxLength = Infinity, pattern } = getValueSchema(field)
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
