// api: sends a GraphQL or REST request, and prints the response or selected values of it.
import type { Connection } from '@manager/client'
import { type Command, InvalidArgumentError } from 'commander'
import { parseField } from '../api/fields.ts'
import { createMasking } from '../api/masking.ts'
import { checkPageable, findNextPage } from '../api/pages.ts'
import { type ApiOptions, type ApiRequest, readRequest } from '../api/request.ts'
import { type ApiResponse, sendRequest, writeStream } from '../api/response.ts'
import { type Select, createSelect } from '../api/select.ts'
import { traceConnection } from '../api/trace.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { serialize } from '../output.ts'
import { escapeControlCharacters, escapeLines } from '../printable.ts'
import type { Terminal } from '../terminal.ts'

type FieldOptions = NonNullable<ApiOptions['fields']>
type Options = Omit<ApiOptions, 'fields'> & {
  field?: FieldOptions
  rawField?: FieldOptions
  include?: boolean
  paginate?: boolean
  select?: string
  verbose?: boolean
}

export function addApiCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'api',
    summary: 'Send a GraphQL or REST request.',
    description:
      'Send a GraphQL or REST request with your token, and print the response. Fields become GraphQL variables, the JSON body, or the query string of a GET or DELETE request. The method is POST if there are fields or a body, otherwise GET.',
    examples: [
      'api graphql -f "query={ projects { slug name } }"',
      'api graphql -F query=@tenants.graphql -f slug=shop --paginate',
      "api graphql -F query=@tenants.graphql --select '$..slug'",
      'api /api/audit/evidence --verbose',
    ],
  })
  // Both options fill one list, because the order of list elements matters.
  const fields: FieldOptions = []
  const addField = (isTyped: boolean) => (text: string) => {
    fields.push(parseOption(text, isTyped))
    return fields
  }
  command
    .argument('<target>', 'graphql, or the path of a REST route')
    .option('-X, --method <method>', 'the HTTP method of a REST request')
    .option('-f, --raw-field <key=value>', 'add a text field; may be repeated', addField(false))
    .option(
      '-F, --field <key=value>',
      'add a field: true, false, null and numbers are converted, @file reads a file and @- reads standard input; may be repeated',
      addField(true),
    )
    .option('--variables <file>', 'a JSON or YAML file with GraphQL variables')
    .option('--input <file>', 'a file with the body, or - for standard input')
    .option('--form <name=value>', 'add a part of a form, or upload @file; may be repeated', addText)
    .option('-H, --header <name:value>', 'add a header; may be repeated', addText)
    .option('--paginate', 'read all pages of a GraphQL connection')
    .option('-s, --select <path>', 'print only the values that a JSONPath expression selects')
    .option('-i, --include', 'print the status and the headers of the response')
    .option('-v, --verbose', 'show requests and responses on standard error, with secrets hidden')
  setAction<Options>(command, terminal, callApi)
}

const addText = (text: string, previousTexts: string[] = []): string[] => [...previousTexts, text]

function parseOption(text: string, isTyped: boolean): FieldOptions[number] {
  try {
    return parseField(text, isTyped)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

async function callApi(context: Context, [target = '']: string[], options: Options): Promise<void> {
  const { terminal } = context
  const { field, rawField, paginate = false, ...rest } = options
  const fields = field ?? rawField
  const request = await readRequest(terminal, target, fields === undefined ? rest : { ...rest, fields })
  if (paginate) checkPageable(request.graphql)
  const select = options.select === undefined ? null : await createSelect(options.select)
  const connection = await openConnection(context, request, options.verbose === true)
  const printer = new Printer(context, select, paginate)
  for (let next: ApiRequest | null = request; next !== null;) {
    const response = await sendRequest(connection, next, context.signal)
    if (options.include === true) printHead(terminal, response)
    await printer.print(response)
    if (response.error !== null) {
      printer.end()
      throw response.error
    }
    next = paginate ? createNextRequest(next, response.json) : null
  }
  printer.end()
}

async function openConnection(
  context: Context,
  request: ApiRequest,
  isVerbose: boolean,
): Promise<Connection> {
  const connection = await context.connect()
  if (!isVerbose) return connection
  const token = await connection.token()
  const values = [...(token === null ? [] : [token]), ...request.fileValues]
  return traceConnection(context.terminal, connection, createMasking(request.graphql?.query ?? '', values))
}

function createNextRequest(request: ApiRequest, json: unknown): ApiRequest | null {
  const graphql = findNextPage(checkPageable(request.graphql), json)
  return graphql === null ? null : { ...request, graphql, json: graphql }
}

function printHead({ stdout }: Terminal, { status, headers }: ApiResponse): void {
  stdout.write(`HTTP ${status}\n`)
  for (const [name, value] of headers) stdout.write(`${escapeControlCharacters(`${name}: ${value}`)}\n`)
  stdout.write('\n')
}

/**
 * Prints responses. Tables print each value when it arrives. JSON and YAML print one document, so they collect the pages
 * and the selected values.
 */
class Printer {
  readonly #context: Context
  readonly #select: Select | null
  readonly #isPaged: boolean
  readonly #values: unknown[] = []

  constructor(context: Context, select: Select | null, isPaged: boolean) {
    this.#context = context
    this.#select = select
    this.#isPaged = isPaged
  }

  async print({ json, stream, error }: ApiResponse): Promise<void> {
    const { terminal, format } = this.#context
    if (stream !== null) {
      if (this.#select !== null)
        throw new Failure('usage', 'The response is not JSON, so --select cannot be used.')
      return writeStream(terminal, stream)
    }
    if (json === undefined) return
    // An error has a different structure, to which the expression does not apply.
    const hasSelection = this.#select !== null && error === null
    const values = this.#select !== null && hasSelection ? this.#select(json) : [json]
    if (format !== 'table') this.#values.push(...values)
    else
      for (const value of values)
        terminal.stdout.write(hasSelection ? formatSelected(value) : serialize(value, 'json'))
  }

  end(): void {
    const { terminal, format } = this.#context
    if (format === 'table') return
    const isList = this.#select !== null || this.#isPaged
    if (isList) terminal.stdout.write(serialize(this.#values, format))
    else if (this.#values.length > 0) terminal.stdout.write(serialize(this.#values[0], format))
  }
}

/** A selected text is printed without quotes, so that a shell can use it. */
const formatSelected = (value: unknown): string =>
  `${escapeLines(typeof value === 'string' ? value : JSON.stringify(value))}\n`
