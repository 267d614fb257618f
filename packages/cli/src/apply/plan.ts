// Compares the file with what is there. Nothing is changed here.
import { Failure } from '../failures.ts'
import type { Row } from '../output.ts'
import type { Resource } from '../resource.ts'
import { environments } from '../resources/environments.ts'
import { projects } from '../resources/projects.ts'
import { tenants } from '../resources/tenants.ts'
import { createRow, listRows, updateRow } from '../rows.ts'
import type { Layer } from '../settings.ts'
import type { Node } from './document.ts'
import { planLink } from './links.ts'
import { digestOf } from './named-files.ts'
import { findRowOf } from './present.ts'
import { planSettings } from './settings-steps.ts'
import { type FieldChange, type NamedFile, type Planning, type Step, isSame } from './step.ts'
import {
  assertNoToken,
  createWithToken,
  getsToken,
  isTokenPending,
  refuseSharedTokenFiles,
  replaceLostToken,
  tokenChange,
  tokenFileOf,
} from './tokens.ts'

/** Everything that the file says, as steps in the order in which they can be carried out. */
export async function makePlan(planning: Planning, nodes: readonly Node[]): Promise<Step[]> {
  refuseSharedTokenFiles(nodes, planning)
  const steps: Step[] = []
  for (const node of nodes) steps.push(...(await planNode(planning, node, null)))
  return steps
}

async function planNode(planning: Planning, node: Node, parent: Node | null): Promise<Step[]> {
  const row = await findPresent(planning, node, parent)
  const { ids } = planning
  if (row === null) ids.expect(node.resource.one, node.path)
  else ids.set(node.resource.one, node.path, String(row['id']))
  const steps = node.resource === environments ? [] : await planRow(planning, node, { row, parent })
  if (node.settings !== null) {
    const layer = (): Layer => layerOf(node.resource, ids.get(node.resource.one, node.path))
    const present = row === null ? null : layer()
    steps.push(await planSettings(planning, { path: node.path, settings: node.settings, present, layer }))
  }
  for (const child of node.children) steps.push(...(await planNode(planning, child, node)))
  for (const link of node.links) steps.push(...(await planLink(planning, link)))
  return steps
}

/** The row that the node names; null when it is not there, or when its parent is not. */
async function findPresent(planning: Planning, node: Node, parent: Node | null): Promise<Row | null> {
  if (parent === null) return findRowOf(planning, node.resource, null, node)
  const id = planning.ids.find(parent.resource.one, parent.path)
  return id === null ? null : findRowOf(planning, node.resource, { id, slug: parent.key }, node)
}

const layerOf = (resource: Resource, id: string): Layer => {
  if (resource === projects) return { project: id }
  return resource === tenants ? { tenant: id } : { application: id }
}

type Found = { row: Row | null; parent: Node | null }

async function planRow(planning: Planning, node: Node, { row, parent }: Found): Promise<Step[]> {
  const step = row === null ? creation(planning, node, parent) : change(planning, node, row)
  if (row === null || !getsToken(node) || !isTokenPending(node, planning)) return [step]
  return [step, replaceLostToken(node, planning, String(row['id']))]
}

function creation(planning: Planning, node: Node, parent: Node | null): Step {
  const { connection, ids } = planning
  const { resource, key, path, values, secrets, files } = node
  const isLate = (name: string): boolean =>
    resource.fields.some((field) => field.name === name && field.only === 'update')
  const isWithToken = getsToken(node)
  if (isWithToken) assertNoToken(tokenFileOf(node, planning))
  return {
    action: 'create',
    kind: resource.one,
    path,
    changes: [
      ...Object.entries(values).map(([field, after]) => shownChange(files, { field, before: null, after })),
      ...Object.keys(secrets).map((field) => ({ ...namedIn(files, field), before: null, after: '(secret)' })),
      ...(isWithToken ? [tokenChange(node, planning, null)] : []),
    ],
    run: async () => {
      const sent = Object.entries({ ...values, ...secrets })
      const now = { [resource.keys[0]]: key, ...Object.fromEntries(sent.filter(([name]) => !isLate(name))) }
      const later = Object.fromEntries(sent.filter(([name]) => isLate(name)))
      const parentRow =
        parent === null ? null : { id: ids.get(parent.resource.one, parent.path), slug: parent.key }
      const made = isWithToken
        ? await createWithToken(node, planning, { environmentId: parentRow?.id ?? '', values: now })
        : (await createRow(connection, resource, parentRow, { values: now })).row
      ids.set(resource.one, path, String(made['id']))
      if (resource === projects) await noteEnvironments(planning, path, String(made['id']))
      if (Object.keys(later).length > 0)
        await updateRow(connection, resource, String(made['id']), { values: later })
    },
  }
}

type Files = ReadonlyMap<string, string>

/** A plan may end up in the log of a pipeline, so that a file is told by its path, size and hash. */
function shownChange(files: Files, { field, before, after }: FieldChange): FieldChange {
  return files.has(field)
    ? { ...namedIn(files, field), before: digestOfText(before), after: digestOfText(after) }
    : { field, before, after }
}

function namedIn(files: Files, field: string): NamedFile {
  const file = files.get(field)
  return file === undefined ? { field } : { field, file }
}

const digestOfText = (value: unknown): unknown =>
  typeof value === 'string' && value !== '' ? digestOf(value) : value

/** A project comes with its environments. */
async function noteEnvironments({ connection, ids }: Planning, path: string, id: string): Promise<void> {
  const { rows } = await listRows(connection, environments, { id })
  for (const row of rows) ids.set(environments.one, `${path}/${String(row['name'])}`, String(row['id']))
}

function change(
  { connection, withSecrets }: Planning,
  { resource, path, values, secrets, files }: Node,
  row: Row,
): Step {
  const isChangeable = (name: string): boolean =>
    resource.fields.some((field) => field.name === name && field.only !== 'create')
  const differing = Object.entries(values).filter(([field, after]) => !isSame(row[field], after))
  const fixed = differing.find(([field]) => !isChangeable(field))
  if (fixed !== undefined)
    throw new Failure(
      'failed',
      `${resource.one} ${path}: ${fixed[0]} cannot be changed. Delete and create it anew.`,
    )
  // Whoever changes how an endpoint signs in means the secret as well.
  const isSignIn = differing.some(([field]) => field.startsWith('auth'))
  const sentSecrets =
    withSecrets || isSignIn ? Object.entries(secrets).filter(([name]) => isChangeable(name)) : []
  const changes: FieldChange[] = [
    ...differing.map(([field, after]) => shownChange(files, { field, before: row[field] ?? null, after })),
    ...sentSecrets.map(([field]) => ({ ...namedIn(files, field), before: '(secret)', after: '(secret)' })),
  ]
  const sent = Object.fromEntries([...differing, ...sentSecrets])
  return {
    action: changes.length === 0 ? 'unchanged' : 'update',
    kind: resource.one,
    path,
    changes,
    notSent: [...files.keys()].filter((field) => !(field in sent)).map((field) => namedIn(files, field)),
    run: async () => void (await updateRow(connection, resource, String(row['id']), { values: sent })),
  }
}
