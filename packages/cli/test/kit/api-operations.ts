// Reads the operations of the API documents, and recognizes them in recorded requests.
import { readFileSync } from 'node:fs'

const readDoc = (file: string): string =>
  readFileSync(new URL(`../../../../docs/api/${file}`, import.meta.url), 'utf8')

/** Returns the names of the mutations in the schema. */
export function readMutations(): string[] {
  const [, fields = ''] = /^type Mutation \{\n(.*?)^\}/ms.exec(readDoc('schema.graphql')) ?? []
  // Arguments and descriptions are indented further, or start with quotes.
  return [...fields.matchAll(/^ {2}(\w+)[(:]/gm)].map(([, name = '']) => name)
}

/** Returns the REST routes that a person may call, such as `GET /pilets/{projectId}`. */
export function readPersonRoutes(): string[] {
  const { paths } = JSON.parse(readDoc('openapi.json')) as {
    paths: Record<string, Record<string, { tags?: string[] }>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags?.includes('people') === true)
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
}

/** Returns the mutation that a request body contains, or null. Each document of svc has one root field. */
export function findMutation(body: string): string | null {
  const { query = '' } = JSON.parse(body) as { query?: string }
  return /^\s*mutation\b[^{]*\{\s*(\w+)/.exec(query)?.[1] ?? null
}

/** Returns whether a recorded request, such as `GET /pilets/1?a=b`, belongs to the route. */
export function matchesRoute(request: string, route: string): boolean {
  const [words, pattern] = [request.replace(/\?.*$/, '').split('/'), route.split('/')]
  return (
    words.length === pattern.length &&
    pattern.every((part, index) => part.startsWith('{') || part === words[index])
  )
}
