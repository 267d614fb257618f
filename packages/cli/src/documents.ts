// The GraphQL documents of a resource, made of its description; a test validates all of them against the schema.
import type { Operation, Resource } from './resource.ts'

/** Reads a page of rows, as `rows`. */
export function listDocument({ list, selection }: Resource): string {
  const parentType = list.parentType ?? 'ID!'
  const variables = [
    ...(list.parent === undefined ? [] : [['parent', list.parent, parentType] as const]),
    ...(list.hasFilters === false
      ? []
      : ([
          ['filters', 'filters', '[Filter!]'],
          ['order', 'order', '[Order!]'],
        ] as const)),
    ['pagination', 'pagination', 'Pagination'] as const,
  ]
  const inner = list.row === undefined ? selection : `${list.row} { ${selection} }`
  return `query List(${variables.map(([name, , type]) => `$${name}: ${type}`).join(', ')}) { rows: ${list.field}(${variables
    .map(([name, argument]) => `${argument}: $${name}`)
    .join(', ')}) { ${inner} } }`
}

/** Makes a row, as `done`. */
export const createDocument = (operation: Operation, resource: Resource): string =>
  changeDocument(operation, operation.parent === undefined ? [] : [['parent', operation.parent, 'ID!']], resource)

/** Changes a row by its id, as `done`. */
export const updateDocument = (operation: Operation, resource: Resource): string =>
  changeDocument(operation, [['id', 'id', 'ID!']], resource)

/** Deletes a row by its id. */
export const deleteDocument = ({ field }: Operation): string =>
  `mutation Delete($id: ID!) { done: ${field}(id: $id) }`

function changeDocument(
  { field, input, types = {}, row, secret }: Operation,
  named: readonly (readonly [string, string, string])[],
  { selection }: Resource,
): string {
  const given =
    input === undefined
      ? Object.entries(types).map(([name, type]) => [name, name, type] as const)
      : [['input', 'input', `${input}!`] as const]
  const variables = [...named, ...given]
  const inner = row === undefined ? selection : `${secret ?? ''} ${row} { ${selection} }`
  return `mutation Change(${variables.map(([name, , type]) => `$${name}: ${type}`).join(', ')}) { done: ${field}(${variables
    .map(([name, argument]) => `${argument}: $${name}`)
    .join(', ')}) { ${inner} } }`
}
