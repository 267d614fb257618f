// Converts the options of `svc api` to a request.
import { openAsBlob } from 'node:fs'
import path from 'node:path'
import type { Request } from '@manager/client'
import { readBoundedText } from '../bounded-text.ts'
import { Failure } from '../failures.ts'
import { readNamedFile } from '../private-files.ts'
import type { Terminal } from '../terminal.ts'
import { parseYaml } from '../yaml-text.ts'
import { type FieldMap, type FieldOption, readFields, toQuery } from './fields.ts'

export type ApiOptions = {
  method?: string
  fields?: FieldOption[]
  header?: string[]
  input?: string
  variables?: string
  form?: string[]
}
export type GraphqlBody = { query: string; variables: FieldMap; operationName?: string }
export type ApiRequest = Request & {
  /** The GraphQL body; null for a REST request. */
  graphql: GraphqlBody | null
  /** Values that were read from files. They can be secrets, so that --verbose hides them. */
  fileValues: readonly string[]
}

const maxInputMegabytes = 32
const methodText = /^(GET|HEAD|POST|PUT|PATCH|DELETE)$/
const methodsWithoutBody = new Set(['GET', 'HEAD', 'DELETE'])

/** Reads the files that the options name, and returns the request. */
export async function readRequest(
  terminal: Terminal,
  target: string,
  options: ApiOptions,
): Promise<ApiRequest> {
  const readText = createTextReader(terminal)
  const { values, fileValues } = await readFields(options.fields ?? [], readText)
  const headers = readHeaders(options.header ?? [])
  if (target === 'graphql') {
    const graphql = await readGraphql(options, values, readText)
    const isRepeatable = /^\s*(query\b|\{)/.test(graphql.query) && !/\bmutation\b/.test(graphql.query)
    return { method: 'POST', path: '/query', json: graphql, headers, isRepeatable, graphql, fileValues }
  }
  if (options.variables !== undefined)
    throw new Failure('usage', '--variables is only for GraphQL. Use: svc api graphql --variables <file>')
  return { ...(await readRest(target, options, values, readText)), headers, graphql: null, fileValues }
}

type ReadText = (file: string) => Promise<string>

/** Returns a function that reads a file, or standard input for `-`. Standard input can be read only once. */
function createTextReader({ stdin }: Terminal): ReadText {
  let isRead = false
  return async (file) => {
    if (file !== '-') return readNamedFile(file, maxInputMegabytes)
    if (isRead) throw new Failure('usage', 'Only one option can read standard input.')
    isRead = true
    if (stdin.isTTY === true) throw new Failure('usage', 'Pipe the value to standard input, or name a file.')
    return readBoundedText(stdin, 'Standard input', maxInputMegabytes)
  }
}

async function readGraphql(options: ApiOptions, values: FieldMap, readText: ReadText): Promise<GraphqlBody> {
  if (options.form !== undefined) throw new Failure('usage', '--form is not for GraphQL. Use -F.')
  if (options.method !== undefined && options.method.toUpperCase() !== 'POST')
    throw new Failure('usage', 'GraphQL requests always use POST. Omit --method.')
  const body = options.input === undefined ? {} : parseMap(await readText(options.input), options.input)
  const { query = body['query'], operationName = body['operationName'], ...fieldVariables } = values
  const variables = {
    ...(body['variables'] as FieldMap | null | undefined),
    ...(options.variables === undefined
      ? {}
      : parseMap(await readText(options.variables), options.variables)),
    ...fieldVariables,
  }
  if (typeof query !== 'string' || query.trim() === '')
    throw new Failure(
      'usage',
      "The query is missing. Pass -f 'query={ projects { slug } }' or -F query=@file.",
    )
  return { query, variables, ...(typeof operationName === 'string' ? { operationName } : {}) }
}

function parseMap(text: string, name: string): FieldMap {
  const value = parseYaml(text, { name, maxAliasCount: 0 })
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as FieldMap
  throw new Failure('usage', `${name} must contain a JSON or YAML object.`)
}

async function readRest(
  target: string,
  { method: methodOption, input, form, fields = [] }: ApiOptions,
  values: FieldMap,
  readText: ReadText,
): Promise<Request> {
  if (input !== undefined && form !== undefined)
    throw new Failure('usage', 'Pass either --input or --form, not both.')
  const hasBody = input !== undefined || form !== undefined || fields.length > 0
  const method = (methodOption ?? (hasBody ? 'POST' : 'GET')).toUpperCase()
  if (!methodText.test(method)) throw new Failure('usage', `Unknown method ${method}.`)
  const address = toPath(target)
  const query = toQueryIf(values, methodsWithoutBody.has(method) || input !== undefined)
  const request = {
    method,
    path: query === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${query}`,
  }
  if (input !== undefined)
    return { ...request, body: { content: await readText(input), type: 'application/json' } }
  if (form !== undefined) return { ...request, body: { content: await readForm(form, values) } }
  return fields.length === 0 || query !== '' ? request : { ...request, json: values }
}

const toQueryIf = (values: FieldMap, isQuery: boolean): string => (isQuery ? toQuery(values) : '')

/** Returns a path with a leading slash. Rejects addresses, because the token must not reach another host. */
function toPath(target: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith('//'))
    throw new Failure(
      'usage',
      `Pass a path such as /api/audit/export, not the address ${target}. The option --url selects the Manager.`,
    )
  return target.startsWith('/') ? target : `/${target}`
}

async function readForm(parts: readonly string[], values: FieldMap): Promise<FormData> {
  const form = new FormData()
  for (const [key, value] of Object.entries(values)) form.append(key, String(value))
  for (const part of parts) {
    const separator = part.indexOf('=')
    if (separator < 1) throw new Failure('usage', 'Use --form name=value or --form name=@file.')
    const [name, value] = [part.slice(0, separator), part.slice(separator + 1)]
    if (value.startsWith('@')) form.append(name, await openFile(value.slice(1)), path.basename(value))
    else form.append(name, value)
  }
  return form
}

const openFile = (file: string): Promise<Blob> =>
  openAsBlob(file).catch(() => {
    throw new Failure('usage', `File ${file} does not exist, or you cannot read it.`)
  })

function readHeaders(headers: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    headers.map((header) => {
      const separator = header.indexOf(':')
      const name = header.slice(0, Math.max(separator, 0)).trim().toLowerCase()
      if (!/^[a-z0-9-]+$/.test(name)) throw new Failure('usage', 'Use --header "name: value".')
      if (name === 'authorization')
        throw new Failure('usage', 'svc sends its own Authorization header. Use --profile or SVC_TOKEN_FILE.')
      return [name, header.slice(separator + 1).trim()]
    }),
  )
}
