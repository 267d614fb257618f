// Seeds pending terminal logins with SQL, to create many logins quickly.
import type { TestApp } from './app.ts'

let made = 0

/**
 * Inserts pending logins, evenly distributed over the 100 shares of the limit. With `networks`, also distributes
 * them over this number of networks.
 */
export async function seedPending(
  { sql }: Pick<TestApp, 'sql'>,
  { network, count, networks = 1 }: { network: string; count: number; networks?: number },
): Promise<void> {
  const first = made
  made += count
  const letter = (divisor: number): string => `substr('BCDFGHJKLMNPQRSTVWXZ', 1 + n / ${divisor} % 20, 1)`
  await sql.query(
    `insert into cli_logins
       (id, secret_hash, user_code, public_key, token_name, ip_address, network, user_agent, created_at)
     select gen_random_uuid(),
       decode(lpad(to_hex(n % 100), 4, '0'), 'hex') || substr(sha256(n::text::bytea), 1, 30),
       ${[8_000, 400, 20, 1].map(letter).join(' || ')} || '-ZZZZ',
       decode(repeat('09', 32), 'hex'), 'seeded', '203.0.113.1',
       $3::text || case when $4::int = 1 then '' else (n % $4::int)::text end, 'seed',
       now() - make_interval(secs => ($1::int + $2::int - n) / 1000.0)
     from generate_series($1::int, $1::int + $2::int - 1) n`,
    [first, count, network, networks],
  )
}

/** Counts the pending logins of a network, or of all networks. */
export async function pendingOf({ sql }: Pick<TestApp, 'sql'>, network?: string): Promise<number> {
  const { rows } = await sql.query<{ n: number }>(
    `select count(*)::int as n from cli_logins where status = 'pending' and ($1::text is null or network = $1)`,
    [network ?? null],
  )
  return rows[0]?.n ?? 0
}
