// Requests with long or unusual text that the service must reject.
export const mebibyte = 1_048_576
export const fill = (text: string, length: number): string => text.repeat(Math.ceil(length / text.length))
export const filters = 'query($f: [Filter!]) { projects(filters: $f) { id } }'
export const filter = { field: 'name', value: 'x' }
const endpoint = 'mutation($i: CreateEndpointInput!) { createEndpoint(applicationId: "x", input: $i) { id } }'

/**
 * Bodies that must be rejected. They are so large that processing them in more than linear time would take minutes.
 */
export const hostileTexts: Record<string, { query: string; variables?: object; operationName?: string }> = {
  'a key that reads like a message': {
    query: filters,
    variables: { f: { ...filter, [fill(' cannot represent a ', mebibyte)]: 1 } },
  },
  'a key that reads like a whole message': {
    query: filters,
    variables: { f: { ...filter, [fill(' got invalid value  at ""; Field', mebibyte)]: 1 } },
  },
  'a key of quotes': { query: filters, variables: { f: { ...filter, [fill(' at "', mebibyte)]: 1 } } },
  'a key of 3 MiB': { query: filters, variables: { f: { ...filter, [fill('x', 3 * mebibyte)]: 1 } } },
  'a wrong word': {
    query: filters.replace('filters: $f', 'filters: $f, order: $o').replace('$f:', '$o: [Order!], $f:'),
    variables: { o: { field: 'id', direction: fill(' cannot represent value: ', mebibyte) } },
  },
  'a text in place of an object': { query: filters, variables: { f: fill('value: ', 3 * mebibyte) } },
  'an object in place of a text': {
    query: filters,
    variables: { f: { field: 'x', value: { a: fill(' value', 3 * mebibyte) } } },
  },
  'many wrong keys beside a long value': {
    query: filters,
    variables: {
      f: {
        ...Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 1])),
        value: fill('v', 3 * mebibyte),
      },
    },
  },
  'many long keys': {
    query: filters,
    variables: { f: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [fill(`k${i}`, 1e5), 1])) },
  },
  'a key of 20 names of fields': {
    query: endpoint,
    variables: { i: { [fill('transformationTemplate', 1e6)]: 1 } },
  },
  'many lines before variables of one name': {
    query: `query(${fill('\n', 28_000)}${fill('$a:Int ', 2_600)}) { me { id } }`,
  },
  'many lines before unknown fields': { query: `{ me { ${fill('\n', 28_000)}${fill('x ', 120)} } }` },
  'a long field': { query: `{ me { ${fill('x', 30_000)} } }` },
  'a long alias': { query: `{ me { ${fill('x', 30_000)}: id } }` },
  'a long operation': { query: `query ${fill('x', 30_000)} { me { id } }` },
  'a long variable': { query: `query($${fill('x', 30_000)}: Int) { me { id } }` },
  'a long fragment that spreads itself': {
    query: `{ me { ...${fill('x', 9_000)} } } fragment ${fill('x', 9_000)} on User { ...${fill('x', 9_000)} }`,
  },
  'a long type': { query: `query($a: ${fill('x', 30_000)}) { me { id } }` },
  'a long text where none may stand': { query: `{ me "${fill('x', 30_000)}" { id } }` },
  'a long literal of the wrong type': { query: `{ projects(pagination: "${fill('x', 30_000)}") { id } }` },
  'a long word': { query: `{ projects(order: {field: "id", direction: ${fill('X', 30_000)}}) { id } }` },
  'a long key of a literal': { query: `{ projects(filters: {${fill('x', 30_000)}: 1}) { id } }` },
  'a text of open brackets': { query: fill('{me', 30_000) },
  'a name of an operation': { query: '{ me { id } }', operationName: fill('x', 3 * mebibyte) },
}
