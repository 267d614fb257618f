// The order of notifications while a person reads them: new ones wait behind a button if the pointer or the focus is in
// the list.
import type { NotificationItem } from './notifications.tsx'
import { type SteadyRows, useSteadyRows } from './steady-rows.tsx'

const noItems: readonly NotificationItem[] = []
const noIds: ReadonlySet<string> = new Set()

/**
 * Returns the notifications to show. Those that no longer belong to the list, such as read ones in a list of unread
 * ones, disappear.
 */
export function useSteadyInbox(
  items: readonly NotificationItem[] | undefined,
  options: Parameters<typeof useSteadyRows>[1],
): SteadyRows<NotificationItem> {
  const steady = useSteadyRows(items ?? noItems, options)
  return { ...steady, rows: steady.rows.filter(({ id }) => !steady.gone.has(id)), gone: noIds }
}
