// Selects the rows of one audit chain in a time window. Rows are ordered by sequence number, and the index on it also
// finds the start and the end of the window.
import { type RawBuilder, sql } from 'kysely'
import type { TimeWindow } from '../../platform/inputs/time-window.ts'
import { createWindowSql } from '../../platform/lists/log-page.ts'

// Computing the time hides the column from the planner, which then reads the rows in chain order. Otherwise, the
// planner would use the time index, which covers all chains.
const computedTime = sql`created_at + interval '0'`

// A row receives its time before it waits for the lock on the chain head, so neighboring rows can be out of time order.
// The wait cannot exceed the statement timeout.
const maxDisorder = '2 minutes'

/** Returns the conditions that restrict a chain to a time window, each preceded by `and`. */
export const createChainWindowSql = (chainId: string, window: TimeWindow): RawBuilder<unknown> => sql`
  ${window.from === null ? sql`` : sql`and seq > ${findSeqBefore(chainId, window.from, '-')}`}
  ${window.to === null ? sql`` : sql`and seq <= ${findSeqBefore(chainId, window.to, '+')} + 1`}
  ${createWindowSql(computedTime, window)}`

/**
 * Returns a subquery that finds, by bisection, the last row that was written before a time. Each step reads one row by
 * its sequence number.
 */
const findSeqBefore = (chainId: string, time: string, sign: '-' | '+'): RawBuilder<unknown> => sql`(
  with recursive bisection (low, high) as (
    select 0::bigint, coalesce((select seq + 1 from audit_chains where chain_id = ${chainId}), 1)
    union all
    select case when probe.is_before then middle else low end, case when probe.is_before then high else middle end
    from bisection
    cross join lateral (select (low + high) / 2 as middle) halves
    cross join lateral (
      select coalesce((select created_at < ${time}::timestamptz ${sql.raw(sign)} interval '${sql.raw(maxDisorder)}'
        from audit_logs where chain_id = ${chainId} and seq = middle), true) as is_before
    ) probe
    where high - low > 1
  )
  select max(low) from bisection)`
