// Plans deletions for --prune: objects and links that are missing in the lists of the document. A list that the
// document omits is not compared, and projects are never deleted.
import { Failure } from '../failures.ts'
import type { Row } from '../output.ts'
import type { Resource } from '../resource.ts'
import { apps } from '../resources/apps.ts'
import { endpoints } from '../resources/endpoints.ts'
import { languagePacks } from '../resources/language-packs.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { tenants } from '../resources/tenants.ts'
import { triggers } from '../resources/triggers.ts'
import { deleteRow } from '../rows.ts'
import { ProjectContents } from './contents.ts'
import type { Node } from './document.ts'
import { linkKinds } from './links.ts'
import type { PlannedObject, Planning, Step } from './step.ts'

/** An object is deleted after the links to it, and after the objects in it. */
const deletionOrder: readonly string[] = [
  linkKinds.caller.name,
  linkKinds.app.name,
  ...[triggers, endpoints, apps, tenants, languagePacks, machineUsers].map(({ singular }) => singular),
]
const getName = ({ kind, path }: PlannedObject): string => `${kind} ${path}`

const getRank = ({ kind }: Step): number => deletionOrder.indexOf(kind)

/** Returns the steps that delete objects. Throws if the document refers to one of these objects. */
export async function planDeletions(planning: Planning, projectNodes: readonly Node[]): Promise<Step[]> {
  const steps: Step[] = []
  for (const project of projectNodes) {
    const id = planning.ids.find(project.resource.singular, project.path)
    if (id === null) continue
    const contents = new ProjectContents(planning, { id, slug: project.key })
    steps.push(...(await planNodeDeletions(planning, project, contents)))
  }
  rejectReferences(projectNodes, steps)
  return removeRepetitions(steps.toSorted((one, other) => getRank(one) - getRank(other)))
}

async function planNodeDeletions(planning: Planning, node: Node, contents: ProjectContents): Promise<Step[]> {
  const id = planning.ids.find(node.resource.singular, node.path)
  // The Manager has nothing below an object that does not exist yet.
  if (id === null) return []
  const steps: Step[] = []
  for (const resource of node.listed) {
    const keys = new Set(node.children.filter((child) => child.resource === resource).map(({ key }) => key))
    for (const row of await planning.lists.load(resource, { id, slug: node.key })) {
      const key = String(row[resource.keys[0]])
      if (!keys.has(key))
        steps.push(await planRowDeletion(planning, resource, `${node.path}/${key}`, { row, contents }))
    }
  }
  if (node.hasLinkList) steps.push(...(await planLinkDeletions(planning, node, id, contents)))
  for (const child of node.children) steps.push(...(await planNodeDeletions(planning, child, contents)))
  return steps
}

async function planRowDeletion(
  planning: Planning,
  resource: Resource,
  path: string,
  { row, contents }: { row: Row; contents: ProjectContents },
): Promise<Step> {
  return {
    action: 'delete',
    kind: resource.singular,
    path,
    changes: [],
    contents: await contents.list(resource, path, row),
    run: () => deleteRow(planning.connection, resource, row, {}),
  }
}

async function planLinkDeletions(
  { connection, ids, signal }: Planning,
  node: Node,
  id: string,
  contents: ProjectContents,
): Promise<Step[]> {
  const kind = linkKinds[node.resource === endpoints ? 'caller' : 'app']
  const declaredIds = new Set(node.links.map(({ to }) => ids.find(kind.to, to)))
  const steps: Step[] = []
  for (const row of await kind.list(connection, id, signal)) {
    if (declaredIds.has(row.to)) continue
    const target = row.slug ?? (await contents.getMachineUserPath(row.to))
    steps.push({
      action: 'delete',
      kind: kind.name,
      path: `${node.path} - ${target}`,
      changes: [],
      run: async () => void (await kind.delete(connection, row)),
    })
  }
  return steps
}

/** Throws if the document links to an object that it does not list. The plan would delete the object and need it. */
function rejectReferences(nodes: readonly Node[], steps: readonly Step[]): void {
  const deleted = new Set(steps.map(getName))
  for (const node of nodes) {
    for (const { kind, path, to } of node.links) {
      const target = { kind: linkKinds[kind].to, path: to }
      if (deleted.has(getName(target)))
        throw new Failure(
          'usage',
          `--prune would delete the ${getName(target)}, but ${node.resource.singular} ${path} refers to it. Add it to the file, or remove the reference.`,
        )
    }
    rejectReferences(node.children, steps)
  }
}

/** Removes objects from the contents that another step deletes. The plan then shows each object once. */
function removeRepetitions(steps: readonly Step[]): Step[] {
  const seen = new Set(steps.map(getName))
  return steps.map((step) => ({
    ...step,
    contents: (step.contents ?? []).filter((object) => {
      const isNew = !seen.has(getName(object))
      seen.add(getName(object))
      return isNew
    }),
  }))
}
