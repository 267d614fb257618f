// Compares the file with the current state of the Manager. Planning changes nothing.
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
  hasGeneratedToken,
  isTokenPending,
  rejectSharedTokenFiles,
  replaceLostToken,
  tokenChange,
  tokenFileOf,
} from './tokens.ts'

/** Returns the steps for the whole file, in an order in which they can run. */
export async function createPlan(planning: Planning, nodes: readonly Node[]): Promise<Step[]> {
  rejectSharedTokenFiles(nodes, planning)
  const steps: Step[] = []
  for (const node of nodes) steps.push(...(await planNode(planning, node, null)))
  return steps
}

async function planNode(planning: Planning, node: Node, parent: Node | null): Promise<Step[]> {
  const row = await findPresent(planning, node, parent)
  const { ids } = planning
  if (row === null) ids.expect(node.resource.singular, node.path)
  else ids.set(node.resource.singular, node.path, String(row['id']))
  const steps = node.resource === environments ? [] : await planRow(planning, node, { row, parent })
  if (node.settings !== null) {
    const layer = (): Layer => layerOf(node.resource, ids.get(node.resource.singular, node.path))
    const present = row === null ? null : layer()
    steps.push(await planSettings(planning, { path: node.path, settings: node.settings, present, layer }))
  }
  for (const child of node.children) steps.push(...(await planNode(planning, child, node)))
  for (const link of node.links) steps.push(...(await planLink(planning, link)))
  return steps
}

/** Returns the row that the node names, or null if the row or its parent does not exist. */
async function findPresent(planning: Planning, node: Node, parent: Node | null): Promise<Row | null> {
  if (parent === null) return findRowOf(planning, node.resource, null, node)
  const id = planning.ids.find(parent.resource.singular, parent.path)
  return id === null ? null : findRowOf(planning, node.resource, { id, slug: parent.key }, node)
}

const layerOf = (resource: Resource, id: string): Layer => {
  if (resource === projects) return { project: id }
  return resource === tenants ? { tenant: id } : { application: id }
}

type Found = { row: Row | null; parent: Node | null }

async function planRow(planning: Planning, node: Node, { row, parent }: Found): Promise<Step[]> {
  const step = row === null ? planCreate(planning, node, parent) : planUpdate(planning, node, row)
  if (row === null || !hasGeneratedToken(node) || !isTokenPending(node, planning)) return [step]
  return [step, replaceLostToken(node, planning, String(row['id']))]
}

function planCreate(planning: Planning, node: Node, parent: Node | null): Step {
  const { connection, ids } = planning
  const { resource, key, path, values, secrets, files } = node
  const isUpdateOnly = (name: string): boolean =>
    resource.fields.some((field) => field.name === name && field.only === 'update')
  const hasToken = hasGeneratedToken(node)
  if (hasToken) assertNoToken(tokenFileOf(node, planning))
  return {
    action: 'create',
    kind: resource.singular,
    path,
    changes: [
      ...Object.entries(values).map(([field, after]) => shownChange(files, { field, before: null, after })),
      ...Object.keys(secrets).map((field) => ({ ...fileOf(files, field), before: null, after: '(secret)' })),
      ...(hasToken ? [tokenChange(node, planning, null)] : []),
    ],
    run: async () => {
      const sent = Object.entries({ ...values, ...secrets })
      const initialValues = {
        [resource.keys[0]]: key,
        ...Object.fromEntries(sent.filter(([name]) => !isUpdateOnly(name))),
      }
      const deferredValues = Object.fromEntries(sent.filter(([name]) => isUpdateOnly(name)))
      const parentRow =
        parent === null ? null : { id: ids.get(parent.resource.singular, parent.path), slug: parent.key }
      const created = hasToken
        ? await createWithToken(node, planning, { environmentId: parentRow?.id ?? '', values: initialValues })
        : (await createRow(connection, resource, parentRow, { values: initialValues })).row
      ids.set(resource.singular, path, String(created['id']))
      if (resource === projects) await setEnvironmentIds(planning, path, String(created['id']))
      if (Object.keys(deferredValues).length > 0)
        await updateRow(connection, resource, String(created['id']), { values: deferredValues })
    },
  }
}

type Files = ReadonlyMap<string, string>

/** Plans may end up in pipeline logs, so a file is shown by path, size and hash instead of its content. */
function shownChange(files: Files, { field, before, after }: FieldChange): FieldChange {
  return files.has(field)
    ? { ...fileOf(files, field), before: digestOfText(before), after: digestOfText(after) }
    : { field, before, after }
}

function fileOf(files: Files, field: string): NamedFile {
  const file = files.get(field)
  return file === undefined ? { field } : { field, file }
}

const digestOfText = (value: unknown): unknown =>
  typeof value === 'string' && value !== '' ? digestOf(value) : value

/** The Manager creates the environments together with the project, so their ids are known only now. */
async function setEnvironmentIds({ connection, ids }: Planning, path: string, id: string): Promise<void> {
  const { rows } = await listRows(connection, environments, { id })
  for (const row of rows) ids.set(environments.singular, `${path}/${String(row['name'])}`, String(row['id']))
}

function planUpdate(
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
      `${resource.singular} ${path}: ${fixed[0]} cannot be changed. Delete it and create it again.`,
    )
  // A change of how an endpoint authenticates also sends its secret.
  const isAuthChanged = differing.some(([field]) => field.startsWith('auth'))
  const sentSecrets =
    withSecrets || isAuthChanged ? Object.entries(secrets).filter(([name]) => isChangeable(name)) : []
  const changes: FieldChange[] = [
    ...differing.map(([field, after]) => shownChange(files, { field, before: row[field] ?? null, after })),
    ...sentSecrets.map(([field]) => ({ ...fileOf(files, field), before: '(secret)', after: '(secret)' })),
  ]
  const sent = Object.fromEntries([...differing, ...sentSecrets])
  return {
    action: changes.length === 0 ? 'unchanged' : 'update',
    kind: resource.singular,
    path,
    changes,
    notSent: [...files.keys()].filter((field) => !(field in sent)).map((field) => fileOf(files, field)),
    run: async () => void (await updateRow(connection, resource, String(row['id']), { values: sent })),
  }
}
