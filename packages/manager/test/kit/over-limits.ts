// GraphQL requests that each exceed one limit.
const json = (query: string): string => JSON.stringify({ query })

const nested = (depth: number): string =>
  `{ projects { ${'tenants { project { '.repeat(depth / 2)} id ${'} } '.repeat(depth / 2)} } }`
/** Request bodies that exceed a limit, by the name of the case. */
export const overLimits: Record<string, string> = {
  '10,000 aliases': json(`{ ${Array.from({ length: 10_000 }, (_, i) => `a${i}: me { id }`).join(' ')} }`),
  '31 aliases': json(`{ ${Array.from({ length: 31 }, (_, i) => `a${i}: me { id }`).join(' ')} }`),
  'depth 200': json(nested(200)),
  'fragment cycle': json('{ me { ...A } } fragment A on User { id ...B } fragment B on User { id ...A }'),
  '1 MB of commas': json(`{ me { id ${','.repeat(1_000_000)} } }`),
  'array batch of 1,000': JSON.stringify(Array.from({ length: 1_000 }, () => ({ query: '{ me { id } }' }))),
  '100 root fields': json(`{ ${Array.from({ length: 100 }, () => 'me { id }').join(' ')} }`),
  'pages inside pages': json(
    '{ projects { tenants { project { tenants { project { tenants { project { tenants { id } } } } } } } } }',
  ),
  '900 equal fields': json(`{ me { ${'id '.repeat(900)} } }`),
  'equal fields in fragments': json(
    `{ me { ${Array.from({ length: 9 }, (_, i) => `...F${i}`).join(' ')} } } ${Array.from({ length: 9 }, (_, i) => `fragment F${i} on User { ${'id '.repeat(60)} }`).join(' ')}`,
  ),
  '100 directives': json(`{ me { id ${'@include(if: true) '.repeat(100)} } }`),
  'cycles through many fragments': json(
    `{ me { ...F1 ...F30 } } ${Array.from({ length: 30 }, (_, i) => `fragment F${i + 1} on User { id ${i < 29 ? `...F${i + 2}` : ''} ${Array.from({ length: i }, (__, k) => `...F${k + 1}`).join(' ')} }`).join(' ')}`,
  ),
  '195 fragments': json(
    `{ me { ${Array.from({ length: 195 }, (_, i) => `...F${i}`).join(' ')} } } ${Array.from({ length: 195 }, (_, i) => `fragment F${i} on User { id }`).join(' ')}`,
  ),
  'introspection many times': json(
    `{ ${Array.from({ length: 5 }, (_, i) => `s${i}: __schema { types { ${Array.from({ length: 5 }, (__, k) => `f${k}: fields { name }`).join(' ')} } }`).join(' ')} }`,
  ),
  'introspection under many names': json(
    `{ __schema { types { fields { ${Array.from({ length: 28 }, (_, i) => `a${i}: type { ...T }`).join(' ')} } } } } fragment T on __Type { ofType { ofType { ofType { fields { name description type { kind } } } } } }`,
  ),
  'names of types under many names': json(
    `{ __schema { types { fields { type { ofType { fields { ${Array.from({ length: 28 }, (_, i) => `a${i}: __typename`).join(' ')} } } } } } } }`,
  ),
  'scalar fragments that double': json(
    `{ me { ...F0 } } ${Array.from({ length: 40 }, (_, i) => `fragment F${i} on User { ...F${i + 1} ...F${i + 1} }`).join(' ')} fragment F40 on User { id }`,
  ),
  'fragments that double': json(
    `{ projects { ...F0 } } ${Array.from({ length: 12 }, (_, i) => `fragment F${i} on Project { tenants { project { ...F${i + 1} ...F${i + 1} } } }`).join(' ')} fragment F12 on Project { id }`,
  ),
}
