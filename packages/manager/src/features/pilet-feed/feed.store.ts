// One statement reads any number of feeds and the project version. Layers, versions and pins are index lookups. The
// cost therefore depends on the modules of the feeds, not on the number of packages or tenants.
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import { createVersionSql } from '../../platform/postgres/project-version.ts'
import type { FeedPackage } from './feed.pure.ts'
import { layerRows, buildModulesSql } from './modules.store.ts'

/** `tenantId` is null for the feed that is shared by all tenants. */
export type FeedId = { applicationId: string; tenantId: string | null }

/** `items` is null if the application is not enabled for the tenant. */
export type FeedRow = { projectId: string; version: string; items: FeedPackage[] | null }

export const formatFeedKey = ({ applicationId, tenantId }: FeedId): string => `${applicationId} ${tenantId}`

const { project, application } = layerRows
const tenant = layerRows.tenant('wanted.tenant_id')
const leaf = layerRows.leaf('wanted.tenant_id')

// The most specific layer that has the key provides the whole value.
const buildPinsSql = (...rows: string[]): string => {
  const pair = `jsonb_path_query_first(s.frontend_module_config, '$.KeyValuePairs[*] ? (@.Key == "pilets.pins")')`
  const values = rows.map(
    (row) => `(select ${pair} ->> 'Value' from settings s where ${row} and ${pair} is not null)`,
  )
  return `pilet_pins(coalesce(${values.join(', ')}))`
}

const columns =
  'p.name, p.version, p.hash, p.spec, p.signature, p.key_id, p.statement_signature, p.statement_key_id'
const isServed = '(wanted.tenant_id is null or coalesce(joined.enabled, false))'

const statement: PreparedStatement = {
  name: 'pilet-feeds',
  kind: 'read',
  size: 'large',
  text: `
    select wanted.position::int, app.project_id as "projectId", ${createVersionSql('app.project_id', 'pilets')} as version,
      case when ${isServed} then (
        select coalesce(json_agg(json_build_object('name', item.name, 'version', item.version, 'hash', item.hash,
          'spec', item.spec, 'signature', encode(item.signature, 'hex'), 'keyId', item.key_id, 'statementSignature',
          case when item.statement_key_id = item.key_id then encode(item.statement_signature, 'hex') end,
          'isPinned', item.is_pinned
        ) order by item.name), '[]')
        from jsonb_array_elements_text(merged.modules) as module
        cross join lateral (
          (select ${columns}, false as is_pinned from pilet_packages p
           where p.project_id = app.project_id and p.name = module and p.enabled
             and not coalesce(jsonb_exists(merged.pins, module), false)
           order by p.is_stable desc, p.precedence desc, p.version desc limit 1)
          union all
          select ${columns}, true from pilet_packages p
          where p.project_id = app.project_id and p.name = module and p.version = merged.pins ->> module and p.enabled
        ) item
      ) end as items
    from unnest($1::uuid[], $2::uuid[]) with ordinality as wanted (application_id, tenant_id, position)
    cross join lateral (
      select a.id, a.project_id from applications a where a.id = wanted.application_id limit 1
    ) app
    left join lateral (
      select t.enabled from tenant2applications t
      where t.tenant_id = wanted.tenant_id and t.application_id = app.id limit 1
    ) joined on true
    left join lateral (
      -- The offset prevents the planner from merging again for every module.
      select ${buildModulesSql(leaf, tenant, application, project)} as modules,
        case when wanted.tenant_id is not null then ${buildPinsSql(leaf, tenant, application, project)} end as pins
      where ${isServed} offset 0
    ) merged on true`,
}

/** Returns the feeds in input order, with null for an unknown application. */
export async function readFeeds(run: RunPrepared, feedIds: readonly FeedId[]): Promise<(FeedRow | null)[]> {
  const values = [feedIds.map(({ applicationId }) => applicationId), feedIds.map(({ tenantId }) => tenantId)]
  return orderByPosition<FeedRow>(
    feedIds.length,
    await run<FeedRow & { position: number }>(statement, values),
  )
}
