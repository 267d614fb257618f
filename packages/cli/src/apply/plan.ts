// Compares the file with the current state of the Manager and plans the differences. Planning changes
// nothing.
import { Failure } from '../failures.ts'
import type { Row } from '../output.ts'
import { mapConcurrently } from '../request-limit.ts'
import type { Resource } from '../resource.ts'
import { environments } from '../resources/environments.ts'
import { projects } from '../resources/projects.ts'
import { tenants } from '../resources/tenants.ts'
import { type ParentRow, createRow, listRows, updateRow } from '../rows.ts'
import type { Layer } from '../settings.ts'
import type { Node } from './document.ts'
import { planLinks } from './links.ts'
import { MissingSecret } from './fields.ts'
import { computeDigest } from './named-files.ts'
import { planDeletions } from './prune.ts'
import { findRowByKey } from './lookups.ts'
import { planSettings } from './settings-steps.ts'
import { type FieldChange, type NamedFile, type Planning, type Step, isEqualValue } from './step.ts'
import {
  assertNoToken,
  createMachineUserWithToken,
  hasGeneratedToken,
  isTokenPending,
  rejectSharedTokenFiles,
  replaceLostToken,
  createTokenChange,
  getTokenFile,
} from './tokens.ts'

/** Returns the steps for the whole file, in an order in which they can run. */
export async function createPlan(planning: Planning, nodes: readonly Node[]): Promise<Step[]> {
  rejectSharedTokenFiles(nodes, planning)
  const steps: Step[] = []
  for (const node of nodes) steps.push(...(await planNode(planning, node, null)))
  // Deletions run first: a new endpoint can then have the path of a deleted one.
  return planning.isPruning ? [...(await planDeletions(planning, nodes)), ...steps] : steps
}

async function planNode(planning: Planning, node: Node, parent: Node | null): Promise<Step[]> {
  const row = await findCurrentRow(planning, node, parent)
  const { ids } = planning
  if (row === null) ids.markPlanned(node.resource.singular, node.path)
  else ids.set(node.resource.singular, node.path, String(row['id']))
  const steps = node.resource === environments ? [] : await planRow(planning, node, { row, parent })
  if (node.settings !== null) {
    const layer = (): Layer => createLayer(node.resource, ids.get(node.resource.singular, node.path))
    const currentLayer = row === null ? null : layer()
    steps.push(
      await planSettings(planning, {
        path: node.path,
        settings: node.settings,
        currentLayer,
        layer,
      }),
    )
  }
  if (row !== null) await loadChildLists(planning, node, { id: String(row['id']), slug: node.key })
  // One kind after the other, because endpoints refer to machine users, and tenants refer to apps.
  for (const kind of new Set(node.children.map(({ resource }) => resource))) {
    const children = node.children.filter(({ resource }) => resource === kind)
    steps.push(...(await mapConcurrently(children, (child) => planNode(planning, child, node))).flat())
  }
  return [...steps, ...(await planLinks(planning, node.links))]
}

// For more children than this, one list needs fewer requests than one request for each child.
const maxSingleReads = 10

async function loadChildLists({ lists }: Planning, { children }: Node, parent: ParentRow): Promise<void> {
  const counts = new Map<Resource, number>()
  for (const { resource } of children) counts.set(resource, (counts.get(resource) ?? 0) + 1)
  for (const [resource, count] of counts) if (count > maxSingleReads) await lists.load(resource, parent)
}

/** Returns the row that the node names, or null if the row or its parent does not exist. */
async function findCurrentRow(planning: Planning, node: Node, parent: Node | null): Promise<Row | null> {
  if (parent === null) return findRowByKey(planning, node.resource, null, node)
  const id = planning.ids.find(parent.resource.singular, parent.path)
  return id === null ? null : findRowByKey(planning, node.resource, { id, slug: parent.key }, node)
}

const createLayer = (resource: Resource, id: string): Layer => {
  if (resource === projects) return { project: id }
  return resource === tenants ? { tenant: id } : { application: id }
}

type Position = { row: Row | null; parent: Node | null }

async function planRow(planning: Planning, node: Node, { row, parent }: Position): Promise<Step[]> {
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
  if (!planning.isPreview) {
    assertSecretsExist(Object.values(secrets))
    if (hasToken) assertNoToken(getTokenFile(node, planning))
  }
  return {
    action: 'create',
    kind: resource.singular,
    path,
    changes: [
      ...Object.entries(values).map(([field, after]) => formatChange(files, { field, before: null, after })),
      ...Object.keys(secrets).map((field) => ({
        ...getNamedFile(files, field),
        before: null,
        after: '(secret)',
      })),
      ...(hasToken ? [createTokenChange(node, planning, null)] : []),
    ],
    run: async () => {
      const entries = Object.entries({ ...values, ...secrets })
      const initialValues = {
        [resource.keys[0]]: key,
        ...Object.fromEntries(entries.filter(([name]) => !isUpdateOnly(name))),
      }
      const deferredValues = Object.fromEntries(entries.filter(([name]) => isUpdateOnly(name)))
      const parentRow =
        parent === null ? null : { id: ids.get(parent.resource.singular, parent.path), slug: parent.key }
      const createdRow = hasToken
        ? await createMachineUserWithToken(node, planning, {
            environmentId: parentRow?.id ?? '',
            values: initialValues,
          })
        : (await createRow(connection, resource, parentRow, { values: initialValues })).row
      ids.set(resource.singular, path, String(createdRow['id']))
      if (resource === projects) await setEnvironmentIds(planning, path, String(createdRow['id']))
      if (Object.keys(deferredValues).length > 0)
        await updateRow(connection, resource, String(createdRow['id']), { values: deferredValues })
    },
  }
}

type Files = ReadonlyMap<string, string>

/**
 * Plans may end up in pipeline logs. Therefore, the path, size and hash of a file are shown instead of its
 * content.
 */
function formatChange(files: Files, { field, before, after }: FieldChange): FieldChange {
  return files.has(field)
    ? { ...getNamedFile(files, field), before: formatDigest(before), after: formatDigest(after) }
    : { field, before, after }
}

function getNamedFile(files: Files, field: string): NamedFile {
  const file = files.get(field)
  return file === undefined ? { field } : { field, file }
}

const formatDigest = (value: unknown): unknown =>
  typeof value === 'string' && value !== '' ? computeDigest(value) : value

/** The Manager creates the environments together with the project. Their ids are unknown until then. */
async function setEnvironmentIds({ connection, ids }: Planning, path: string, id: string): Promise<void> {
  const { rows } = await listRows(connection, environments, { id })
  for (const row of rows) ids.set(environments.singular, `${path}/${String(row['name'])}`, String(row['id']))
}

function assertSecretsExist(secrets: readonly unknown[]): void {
  const missing = secrets.find((secret) => secret instanceof MissingSecret)
  if (missing === undefined) return
  throw new Failure(
    'usage',
    `File ${missing.file} does not exist. Create it, and write the password or token into it.`,
  )
}

function planUpdate(
  { connection, withSecrets, isPreview }: Planning,
  { resource, path, values, secrets, files }: Node,
  row: Row,
): Step {
  const isChangeable = (name: string): boolean =>
    resource.fields.some((field) => field.name === name && field.only !== 'create')
  const changedFields = Object.entries(values).filter(([field, after]) => !isEqualValue(row[field], after))
  const fixedField = changedFields.find(([field]) => !isChangeable(field))
  if (fixedField !== undefined)
    throw new Failure(
      'failed',
      `${resource.singular} ${path}: ${fixedField[0]} cannot be changed. Delete the ${resource.singular} and create it again.`,
    )
  // If the authentication of an endpoint changes, its secret must also be sent.
  const isAuthChanged = changedFields.some(([field]) => field.startsWith('auth'))
  const sentSecrets =
    withSecrets || isAuthChanged ? Object.entries(secrets).filter(([name]) => isChangeable(name)) : []
  if (!isPreview) assertSecretsExist(sentSecrets.map(([, secret]) => secret))
  const changes: FieldChange[] = [
    ...changedFields.map(([field, after]) =>
      formatChange(files, { field, before: row[field] ?? null, after }),
    ),
    ...sentSecrets.map(([field]) => ({
      ...getNamedFile(files, field),
      before: '(secret)',
      after: '(secret)',
    })),
  ]
  const sentValues = Object.fromEntries([...changedFields, ...sentSecrets])
  return {
    action: changes.length === 0 ? 'unchanged' : 'update',
    kind: resource.singular,
    path,
    changes,
    notSent: [...files.keys()]
      .filter((field) => !(field in sentValues))
      .map((field) => getNamedFile(files, field)),
    // A change between the plan and this step is rejected, because the user has not seen it.
    run: async () => {
      const { id, revision } = row
      await updateRow(connection, resource, String(id), { values: sentValues, revision })
    },
  }
}
