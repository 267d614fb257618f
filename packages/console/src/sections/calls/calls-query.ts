// The conditions of the list, from the parameters of the address.
import { isUuid } from '../../app/ids.ts'
import type { AddressSearch } from '../../app/list-search.ts'
import { type TimeRange, readTimeRange } from '../../app/time-range.ts'
import type { CallListVariables } from '../../generated/documents.ts'

export type CallsQuery = Required<
  Pick<CallListVariables, 'endpoint' | 'machineUser' | 'requestId' | 'status' | 'from' | 'to' | 'text'>
>

/** Search parameters that remove all filters. The application stays, because a log belongs to one application. */
export const noFilters = {
  q: undefined,
  endpoint: undefined,
  machine: undefined,
  status: undefined,
  range: undefined,
  from: undefined,
  to: undefined,
} as const satisfies AddressSearch

export const isFiltered = (search: AddressSearch): boolean =>
  Object.keys(noFilters).some((key) => search[key] !== undefined)

export const statuses = ['failed', '2xx', '3xx', '4xx', '5xx'] as const
const statusPattern = /^(?:failed|[1-5](?:xx|\d\d))$/

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/

/** Returns whether a text can be the request id of a call. */
export const isRequestId = (text: string): boolean => requestIdPattern.test(text)

const maxTextMs = 24 * 3_600_000

export type TextMode = 'requestId' | 'text'

/** Returns the time range. The API searches texts only in ranges of up to 24 hours, so a search without one gets it. */
export function readCallRange(search: AddressSearch, now: number, mode: TextMode): TimeRange {
  const range = readTimeRange(search, now)
  const needsRange = range.id === 'any' && search['q'] !== undefined && mode === 'text'
  return needsRange ? readTimeRange({ range: '24h' }, now) : range
}

/** Returns whether the range is too long to search texts in it. */
export const isTooLong = ({ from, to }: TimeRange): boolean =>
  from === null || to === null || Date.parse(to) - Date.parse(from) > maxTextMs

/** Returns the id of a filter; null if the address contains none, or no valid one. */
export const keepId = (id: string | undefined): string | null => (id !== undefined && isUuid(id) ? id : null)

/** Returns the arguments for the API. Values of the address that the API would reject are ignored. */
export function toCallsQuery(search: AddressSearch, now: number, mode: TextMode): CallsQuery {
  const { q = null, endpoint, machine, status } = search
  const { from, to } = readCallRange(search, now, mode)
  return {
    endpoint: keepId(endpoint),
    machineUser: keepId(machine),
    requestId: mode === 'requestId' ? q : null,
    status: status !== undefined && statusPattern.test(status) ? status : null,
    from,
    to,
    text: mode === 'text' ? q : null,
  }
}
