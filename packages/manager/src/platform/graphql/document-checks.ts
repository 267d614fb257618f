// Cheap checks of a parsed document before the standard validation, which is slow for some short documents:
// it compares every pair of fields with the same response name, visits fragments as often as they are spread,
// and quotes names.
import { type DocumentNode, type FieldNode, Kind, type SelectionSetNode, visit } from 'graphql'
import { badRequest } from '../errors.ts'

const limits = { rootFields: 20, sameName: 64, fragments: 50, selections: 1_000, nameLength: 100 } as const

// Each of these fields multiplies the size of the introspection response; the standard query of GraphiQL stays within
// the limits.
const introspectionLists: Record<string, number> = {
  __schema: 1,
  __type: 2,
  types: 1,
  fields: 2,
  inputFields: 2,
  enumValues: 2,
  interfaces: 2,
  possibleTypes: 2,
  directives: 1,
  args: 3,
}

/** Throws 400 with the name of the limit if the document exceeds one. */
export function checkDocument(document: DocumentNode): void {
  checkNames(document)
  if (countExpandedSelections(document) > limits.selections)
    throw badRequest(
      `a document may have at most ${limits.selections} selections after its fragments are expanded`,
    )
  const [answers, fields] = [new Map<string, number>(), new Map<string, number>()]
  visit(document, {
    OperationDefinition(node) {
      if (node.selectionSet.selections.length > limits.rootFields)
        throw badRequest(`an operation may have at most ${limits.rootFields} root fields`)
    },
    Field(node) {
      const name = node.alias?.value ?? node.name.value
      if (add(answers, name) > limits.sameName)
        throw badRequest(`the name ${name} may occur at most ${limits.sameName} times in a document`)
      add(fields, node.name.value)
    },
  })
  if (!fields.has('__schema') && !fields.has('__type')) return
  for (const [name, most] of Object.entries(introspectionLists))
    if ((fields.get(name) ?? 0) > most)
      throw badRequest(`an introspection query may request ${name} at most ${most} times`)
  checkIntrospectionNames(document)
}

/** Rejects aliases in introspection queries: they could request everything below a field many times. */
function checkIntrospectionNames(document: DocumentNode): void {
  visit(document, {
    Field({ alias, name }) {
      if (alias !== undefined && name.value !== '__schema' && name.value !== '__type')
        throw badRequest('in an introspection query, only __schema and __type may have aliases')
    },
  })
}

/** Rejects long names: an alias appears once in the document, but in every row of the response. */
function checkNames(document: DocumentNode): void {
  visit(document, {
    Name({ value }) {
      if (value.length > limits.nameLength)
        throw badRequest(`a name in a document may have at most ${limits.nameLength} characters`)
    },
  })
}

function add(counts: Map<string, number>, name: string): number {
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  return count
}

/** Counts the selections in all definitions, including expanded fragments; each fragment is measured only once. */
function countExpandedSelections(document: DocumentNode): number {
  const fragments = new Map<string, SelectionSetNode>()
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node.selectionSet)
  if (fragments.size > limits.fragments)
    throw badRequest(`a document may have at most ${limits.fragments} fragments`)
  const sizes = new Map<string, number>()
  const countSelections = (set: FieldNode['selectionSet']): number =>
    (set?.selections ?? []).reduce((sum, node) => {
      if (node.kind !== Kind.FRAGMENT_SPREAD) return sum + 1 + countSelections(node.selectionSet)
      const name = node.name.value
      // NaN marks a fragment that is being counted: finding it again means a cycle, which is never valid.
      if (Number.isNaN(sizes.get(name))) throw badRequest(`the fragment ${name} spreads itself`)
      if (!sizes.has(name)) sizes.set(name, Number.NaN).set(name, countSelections(fragments.get(name)))
      return sum + 1 + (sizes.get(name) ?? 0)
    }, 0)
  // Every definition is counted, so that cycles of unused fragments are found too.
  return document.definitions.reduce(
    (sum, node) => sum + ('selectionSet' in node ? countSelections(node.selectionSet) : 0),
    0,
  )
}
