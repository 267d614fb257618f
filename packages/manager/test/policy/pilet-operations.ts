// Operations on pilets.
import { type Operation, type Rest, op } from './operation.ts'
import { developers, projectRoles } from './principals.ts'
import { fresh } from './world.ts'

const testers = [...developers, 'tester' as const]
const pilet: Rest = { make: (world, target) => fresh.pilet(world, target) }
const disabledPilet: Rest = { make: (world, target) => fresh.pilet(world, target, false) }
const key = (projectId: string, name: string): string =>
  `projectId: "${projectId}", name: "${name}", version: "1.0.0"`

/** Enables a module in the most specific layer, whose usage entry links to an application and a tenant. */
const linkedToUsage = (link: string) =>
  op(
    `PiletUsageEntry.${link}`,
    'project',
    projectRoles,
    (t) => `{ piletUsage(projectId: "${t.id}", name: "menu") { entries { ${link} { id } } } }`,
    {
      make: async (world, target) => {
        const id = await fresh.settings(world, target, 'row')
        await world.service.sql.query(
          `update settings set backend_module_config = '{"EnabledModules": ["menu"]}' where id = $1`,
          [id],
        )
        return id
      },
    },
  )

export const piletOperations: Operation[] = [
  op(
    'Query.piletPackages',
    'project',
    projectRoles,
    (t) => `{ piletPackages(projectId: "${t.id}") { count packages { id } } }`,
  ),
  op(
    'Query.piletPackage',
    'project',
    projectRoles,
    (t, name) => `{ piletPackage(${key(t.id, name)}) { id } }`,
    pilet,
  ),
  op(
    'Query.piletFeedPreview',
    'application',
    projectRoles,
    (t) => `{ piletFeedPreview(applicationId: "${t.applicationId}", tenantId: "${t.tenantId}") { name } }`,
  ),
  op(
    'Query.piletUsage',
    'project',
    projectRoles,
    (t) => `{ piletUsage(projectId: "${t.id}", name: "menu") { isComplete } }`,
  ),
  linkedToUsage('application'),
  linkedToUsage('tenant'),
  op(
    'Mutation.updatePiletPackage',
    'project',
    developers,
    (t, name) => `mutation { updatePiletPackage(${key(t.id, name)}, description: "new") { id } }`,
    pilet,
  ),
  op(
    'Mutation.enablePiletPackage',
    'project',
    developers,
    (t, name) => `mutation { enablePiletPackage(${key(t.id, name)}) { id } }`,
    disabledPilet,
  ),
  op(
    'Mutation.disablePiletPackage',
    'project',
    testers,
    (t, name) => `mutation { disablePiletPackage(${key(t.id, name)}) { id } }`,
    pilet,
  ),
]
