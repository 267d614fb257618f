// Reads the daily counts of notifications of several applications.
import { useMemo } from 'react'
import { useBatchedReads } from '../../api/batched-reads.ts'
import { type DayCount, type DayRange, type Delivery, summarize } from './delivery.ts'

const fields = {
  days: 'notificationDeliveryCounts(applicationId: $id, from: $from, to: $to) { day emitted recipients seen read }',
}
/** The Manager adds up the counts every minute. */
const refetchMs = 20_000

/** Returns the counts by application id. */
export function useDelivery(ids: readonly string[], range: DayRange) {
  const { from, to } = range
  const texts = useMemo(() => ({ from, to }), [from, to])
  const { data, error, refetch } = useBatchedReads<{ days: readonly DayCount[] }>({
    name: 'notification-delivery',
    ids,
    fields,
    texts,
    refetchMs,
  })
  const deliveries = useMemo(
    (): ReadonlyMap<string, Delivery> =>
      new Map([...(data ?? [])].map(([id, { days }]) => [id, summarize(days, range)])),
    [data, range],
  )
  return { deliveries, error, refetch: () => void refetch() }
}
