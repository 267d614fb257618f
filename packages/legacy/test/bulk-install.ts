// Creates a large old installation. The database generates the rows, so that hundreds of thousands of rows
// take only seconds.
import type { TestDatabase } from '../../manager/test/kit/databases.ts'
import { createOldDatabase } from './old-database.ts'

export type BulkSize = { tenants: number; applications: number }
/** Returns the total number of rows. */
export const bulkRows = ({ tenants, applications }: BulkSize): number =>
  1 + tenants * (1 + applications + 3 + 1) + bulkSettings({ tenants, applications }) + bulkEndpoints(tenants)

// The project, every tenant and two out of three clones have settings. The first application of every tenant
// has an endpoint.
const bulkSettings = ({ tenants, applications }: BulkSize): number =>
  1 + tenants + Math.ceil((tenants * applications * 2) / 3)
const bulkEndpoints = (tenants: number): number => tenants

/**
 * Creates one project whose applications are cloned into every tenant. A tenth of the clones have different
 * settings.
 */
export const createBulkInstall = ({ tenants, applications }: BulkSize): Promise<TestDatabase> =>
  createOldDatabase('bigint', async (client) => {
    await client.query("insert into old.project values (1, 'Bulk', 'bulk', '2024-01-01Z')")
    await client.query(
      `insert into old.tenant select t, 1, 'Tenant ' || t, 'tenant-' || t, (array['dev', 'test', 'prod'])[1 + t % 3],
         'shared', '2024-01-01Z' from generate_series(1, $1::int) t`,
      [tenants],
    )
    // Clones are numbered tenant by tenant. The clones of the first tenant are the roots.
    await client.query(
      `insert into old.app select (t - 1) * $2::int + a, t, null, case when t > 1 then a end, 'app-' || a, 'App ' || a,
         case when t % 10 = 0 then 'as tenant ' || t || ' has it' else '' end, t % 50 = 7, '2024-01-01Z'
       from generate_series(1, $1::int) t, generate_series(1, $2::int) a`,
      [tenants, applications],
    )
    await client.query(
      `insert into old.tenant_person
       select t, md5('person ' || (t * 3 + p) / 2)::uuid::text, (array['owner', 'maintainer', 'member'])[p],
         'Person ' || t * 3 + p, 'p' || t * 3 + p || '@example.com', '2024-01-01Z'
       from generate_series(1, $1::int) t, generate_series(1, 3) p`,
      [tenants],
    )
    await client.query(
      `insert into old.robot select t, t, 'Robot ' || t, '', false, left(md5('token ' || t), 8),
         sha256(('token ' || t)::bytea), null, '2024-01-01Z' from generate_series(1, $1::int) t`,
      [tenants],
    )
    await insertSettings(client, tenants, applications)
    await client.query(
      `insert into old.route select t, (t - 1) * $2::int + 1, 'Orders', '', false, '/orders',
         'https://partner-' || t % 3 || '.example/orders', 'None', '', null, null, null, null, '', 'BASIC', '2024-01-01Z'
       from generate_series(1, $1::int) t`,
      [tenants, applications],
    )
    await client.query('insert into old.route_robot select t, t from generate_series(1, $1::int) t', [
      tenants,
    ])
    await client.query('analyze')
  })

type Client = Parameters<Parameters<typeof createOldDatabase>[1]>[0]

async function insertSettings(client: Client, tenants: number, applications: number): Promise<void> {
  await client.query(
    `insert into old.config values (1, 'project', 1, '{"EnabledModules": ["@acme/menu"]}',
       '{"EnabledThemes": ["dark", "light"], "KeyValuePairs": [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]}')`,
  )
  await client.query(
    `insert into old.config select 1 + t, 'tenant', t, '{}',
       jsonb_build_object('DefaultTheme', case t % 2 when 0 then 'dark' else 'light' end)
     from generate_series(1, $1::int) t`,
    [tenants],
  )
  await client.query(
    `insert into old.config select 1 + $1::int + c, 'application', c, '{}', jsonb_build_object('KeyValuePairs',
       jsonb_build_array(jsonb_build_object('Key', 'a', 'Value',
         case when c % 10 = 0 then 'own ' || c else 'application ' || c % $2::int end)))
     from generate_series(1, $1::int * $2::int) c where c % 3 > 0`,
    [tenants, applications],
  )
}
