// The request of a test call, as a person enters it.
import type { CreateEndpointTestCallInput } from '../../generated/documents.ts'

export const testMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
type TestMethod = (typeof testMethods)[number]

export type TestRequest = {
  /** Null until the person has chosen a machine user. */
  readonly machineUserId: string | null
  readonly method: TestMethod
  /** Without `?`. */
  readonly query: string
  /** One header in each line, such as `Accept: text/xml`. */
  readonly headers: string
  readonly body: string
}

type Headers = {
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** The number of the first line that is not a header; null if there is none. */
  readonly wrongLine: number | null
}

/** Reads one header from each line. Empty lines are ignored. */
export function parseHeaders(text: string): Headers {
  const lines = text.split('\n').map((line, index) => {
    const end = line.indexOf(':')
    const name = line.slice(0, Math.max(0, end)).trim()
    return { number: index + 1, isEmpty: line.trim() === '', name, value: line.slice(end + 1).trim() }
  })
  const used = lines.filter(({ isEmpty }) => !isEmpty)
  return {
    headers: used.map(({ name, value }) => ({ name, value })),
    wrongLine: used.find(({ name }) => name === '' || /\s/.test(name))?.number ?? null,
  }
}

const methodsWithBody: ReadonlySet<TestMethod> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
export const hasBody = (method: TestMethod): boolean => methodsWithBody.has(method)

/** Returns the input of the API. Fields that the form hides are left out. */
export function toTestInput(
  { method, query, headers, body }: TestRequest,
  machineUserId: string,
): CreateEndpointTestCallInput {
  const parsed = parseHeaders(headers).headers
  return {
    machineUserId,
    method,
    ...(query === '' ? {} : { query }),
    ...(parsed.length === 0 ? {} : { headers: parsed }),
    ...(hasBody(method) && body !== '' ? { body } : {}),
  }
}

const contentTypes: Readonly<Record<string, string>> = {
  JSON: 'application/json',
  XML: 'application/xml',
  SOAP: 'text/xml; charset=utf-8',
}

/** Returns the request that the form starts with. */
export const createTestRequest = (
  inputMessageType: string | null,
  body: string,
  machineUserId: string | null,
): TestRequest => ({
  machineUserId,
  method: 'POST',
  query: '',
  headers: `Content-Type: ${contentTypes[inputMessageType ?? 'JSON'] ?? 'application/json'}`,
  body,
})
