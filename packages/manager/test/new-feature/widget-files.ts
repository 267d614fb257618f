// The files of a feature that uses every extension point, by path.
const folder = 'packages/manager/src/features/widgets/'

export const widgetFiles: Record<string, string> = {
  'packages/manager/migrations/9001_widgets.sql': `-- Widgets, for a test that adds a feature.
create table widgets (
  id uuid primary key,
  project_id uuid not null,
  name text not null,
  secret bytea not null,
  constraint widgets_project_fkey foreign key (project_id) references projects (id) on delete cascade,
  constraint widgets_name_key unique (project_id, name)
);
`,
  [`${folder}widgets.graphql`]: `type Widget @row(of: "widgets.store#Widget") {
  id: ID!
  name: String!
  project: Project! @link @can(do: WIDGET_USE, on: "parent.id", in: WIDGET)
}

extend enum Scope {
  WIDGET
}

extend type Query {
  widget(id: ID!): Widget! @can(do: WIDGET_USE, on: "id", in: WIDGET)
}

extend type Mutation {
  createWidget(projectId: ID!, name: String!, secret: String!): Widget!
    @can(do: WIDGET_USE, on: "projectId", in: PROJECT)
    @audited(as: ["widget create"])
}
`,
  [`${folder}widgets.settings.ts`]: `// The settings of widgets.
import { integer, defineSetting } from '../../config/readers.ts'

export const widgetSettings = {
  maxWidgets: defineSetting(integer(1, 100), {
    key: 'widgets.max',
    env: 'SVC_WIDGETS_MAX',
    default: 2,
    doc: 'Maximum number of widgets.',
  }),
} as const
`,
  [`${folder}widgets.metrics.ts`]: `import type { MetricFactory } from '../../platform/metrics.ts'

export type WidgetMetrics = ReturnType<typeof createWidgetMetrics>

/** Widget metrics. */
export const createWidgetMetrics = ({ counter, gauge }: MetricFactory) => ({
  created: counter('svc_widgets_created_total', 'Widgets that were created.'),
  present: gauge('svc_widgets', 'Number of widgets.'),
})
`,
  [`${folder}widgets.store.ts`]: `import type { Reads, Tx } from '../../platform/postgres/handles.ts'

export type Widget = { id: string; projectId: string; name: string }

const columns = ['id', 'projectId', 'name'] as const

export const findWidget = (db: Reads, id: string): Promise<Widget | undefined> =>
  db.selectFrom('widgets').select(columns).where('id', '=', id).executeTakeFirst()

export const insertWidget = (tx: Tx, widget: Widget & { secret: Buffer }): Promise<Widget> =>
  tx.insertInto('widgets').values(widget).returning(columns).executeTakeFirstOrThrow()

export async function countWidgets(db: Reads): Promise<number> {
  const { count } = await db
    .selectFrom('widgets')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
`,
  [`${folder}widgets.service.ts`]: `import type { Actor } from '../../policy/actor.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { conflict, orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { LockMasterKey } from '../../platform/secrets/master-key.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import type { WidgetMetrics } from './widgets.metrics.ts'
import * as store from './widgets.store.ts'

export type WidgetsDeps = {
  db: Db
  audit: Audit
  secrets: Secrets
  lockMasterKey: LockMasterKey
  widgetMetrics: WidgetMetrics
  maxWidgets: number
}
export type WidgetsService = ReturnType<typeof createWidgetsService>

const event = createEventBuilder<store.Widget>({
  type: 'widget',
  classes: { id: 'public', projectId: 'ignored', name: 'public' },
  nameOf: (widget) => widget.name,
  projectOf: (widget) => widget.projectId,
})

/** Rules about widgets. */
export function createWidgetsService(deps: WidgetsDeps) {
  const { db, audit, secrets, lockMasterKey, widgetMetrics } = deps
  return {
    get: async (id: string) => orNotFound(await store.findWidget(db.read, id), 'widget'),
    count: () => store.countWidgets(db.read),
    measure: async () => widgetMetrics.present.set(await store.countWidgets(db.read)),
    create: async (actor: Actor, projectId: string, { name, secret }: { name: string; secret: string }) => {
      if ((await store.countWidgets(db.read)) >= deps.maxWidgets)
        throw conflict(\`there may be at most \${deps.maxWidgets} widgets\`)
      const id = newId()
      const widget = await db.transaction(async (tx) => {
        const sealed = secrets.seal(secret, { table: 'widgets', column: 'secret', id })
        await lockMasterKey(tx)
        const after = await store.insertWidget(tx, { id, projectId, name, secret: sealed })
        await audit.append(tx, actor, event('create', { before: null, after }))
        return after
      })
      widgetMetrics.created.inc()
      return widget
    },
  }
}
`,
  [`${folder}widgets.resolvers.ts`]: `import type { Resolvers } from '../../generated/graphql.ts'
import type { WidgetsService } from './widgets.service.ts'

/** GraphQL for widgets. */
export function createWidgetsResolvers(service: WidgetsService) {
  return {
    Query: { widget: (_parent, { id }) => service.get(id) },
    Mutation: {
      createWidget: (_parent, { projectId, ...widget }, { actor }) =>
        service.create(actor, projectId, widget),
    },
  } satisfies Resolvers
}
`,
  [`${folder}widgets.schemas.ts`]: `// The number of widgets.
import { Type } from 'typebox'

export const countSchema = {
  operationId: 'countWidgets',
  summary: 'Number of widgets',
  tags: ['proxy' as const],
  response: { 200: Type.Object({ widgets: Type.Integer() }) },
}
`,
  [`${folder}widgets.routes.ts`]: `import type { ApiServer } from '../../platform/http/declarations.ts'
import { countSchema } from './widgets.schemas.ts'
import type { WidgetsService } from './widgets.service.ts'

/** GET /widgets/count */
export function registerWidgetRoutes(server: ApiServer, service: WidgetsService): void {
  const config = { policy: { proxy: 'a number names nobody' } }
  server.get('/widgets/count', { config, schema: countSchema }, async () => ({
    widgets: await service.count(),
  }))
}
`,
  [`${folder}index.ts`]: `// Widgets: everything a feature can bring.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { createIdFinder } from '../../policy/scopes.ts'
import type { UsersApi } from '../users/index.ts'
import { createWidgetMetrics } from './widgets.metrics.ts'
import { createWidgetsResolvers } from './widgets.resolvers.ts'
import { registerWidgetRoutes } from './widgets.routes.ts'
import { type WidgetsDeps, createWidgetsService } from './widgets.service.ts'
import { widgetSettings } from './widgets.settings.ts'

type Deps = Omit<WidgetsDeps, 'widgetMetrics' | 'maxWidgets'> & {
  config: Config
  metrics: Metrics
  users: UsersApi
}

export const widgets = defineFeature({
  name: 'widgets',
  sdl: readSdl(import.meta.url, './widgets.graphql'),
  settings: widgetSettings,
  scopes: { WIDGET: { noun: 'widget', view: 'WIDGET_USE', find: createIdFinder('widgets') } },
  constraints: { widgets_name_key: ['conflict', 'a widget with this name already exists'] },
  sealedColumns: [{ table: 'widgets', columns: ['secret'] }],
  create: (deps: Deps) => {
    const { maxWidgets } = selectSettings(deps.config, widgetSettings)
    const widgetMetrics = createWidgetMetrics(deps.metrics)
    const service = createWidgetsService({ ...deps, maxWidgets, widgetMetrics })
    return {
      resolvers: createWidgetsResolvers(service),
      links: { Widget: { noun: 'widget', findMany: async (ids) => Promise.all(ids.map(service.get)) } },
      routes: (server) => registerWidgetRoutes(server, service),
      schedules: [{ name: 'count-widgets', everyMs: 60_000, run: service.measure }],
      api: {},
    }
  },
})
`,
  // Uses the feature as a caller and as an operator would, and prints the results.
  'packages/manager/test/use-widgets.ts': `import { sealedColumns } from '../src/app.ts'
import { countByKey } from '../src/platform/secrets/sealed-columns.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'
import { startTestApp } from './kit/app.ts'

const service = await startTestApp({ env: { SVC_WIDGETS_MAX: '1' } })
const admin = await seedUser(service.sql, 'ann', 'administrator')
const stranger = await seedUser(service.sql, 'ben')
const { id: projectId, slug } = await seedProject(service.sql, 'widgets')
const create = \`mutation { createWidget(projectId: "\${projectId}", name: "w", secret: "hush") { id project { slug } } }\`
const refused = await service.query(stranger, create)
const made = await service.query(admin, create)
const { id } = made.data.createWidget
const full = await service.query(admin, create)
const read = await service.query(admin, \`{ widget(id: "\${id}") { name } }\`)
const route = await fetch(\`\${service.url}/widgets/count\`, { headers: { 'x-proxy-auth': proxySecret } })
await service.app.schedules.find(({ name }) => name === 'count-widgets')?.run()
const metrics = await service.world.metrics.registry.metrics()
const { rows: audited } = await service.sql.query('select entity_type, action from audit_logs')
const sealed = await countByKey(service.world.database.db, sealedColumns)
const seen = {
  slug: made.data.createWidget.project.slug === slug,
  refused: refused.errors?.[0]?.message,
  full: full.errors?.[0]?.message,
  name: read.data.widget.name,
  route: await route.json(),
  metrics: metrics.match(/^svc_widgets\\S* \\d+$/gm),
  audited,
  sealed: [...sealed.values()],
}
await service.close()
process.stdout.write(JSON.stringify(seen))
`,
}
