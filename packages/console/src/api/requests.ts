// Queries and mutations through the GraphQL API. Each panel uses one query, so that a failure affects only that panel.
import { type TypedDocument, graphql } from '@manager/client'
import {
  type UseMutationResult,
  type UseQueryResult,
  keepPreviousData,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { connection } from './connection.ts'
import { createInterval, createLiveOptions } from './live-reads.ts'
import { queryClient } from './query-client.ts'

type Values = Readonly<Record<string, unknown>>
export type ReadOptions<Result = never> = {
  /** Skips the request, for example until the person has typed enough. */
  isEnabled?: boolean
  /** Keeps the previous result while the variables change, such as the previous page of a list. */
  keepsPrevious?: boolean
  /** Repeats the query after this many milliseconds while the page is visible, less often after failures. */
  refetchMs?: number
  /** Repeats the query every few seconds, and as soon as the page becomes visible. `refetchMs` changes the pause. */
  isLive?: boolean
  /** The same, but only while this is true for the latest result, such as a run that has not ended. */
  isLiveWhile?: (result: Result | undefined) => boolean
  /** Forgets the result as soon as no component shows it, for results that can contain secrets. */
  isSensitive?: boolean
}

const describeRead = <Result, Variables extends Values>(
  document: TypedDocument<Result, Variables>,
  variables: Variables,
) => ({
  queryKey: [document, variables],
  queryFn: ({ signal }: { signal: AbortSignal }) => graphql(connection, document, variables, { signal }),
})

/**
 * Runs a query before the component that shows its result is loaded, unless the cache already has the result. The
 * component's own `useRead` continues the request and shows its failure.
 */
export const startRead = <Result, Variables extends Values>(
  document: TypedDocument<Result, Variables>,
  variables: Variables,
): Promise<Result> => queryClient.fetchQuery({ ...describeRead(document, variables), staleTime: Infinity })

/** Returns the interval of a query that repeats after some milliseconds. */
export const repeatAfter = (refetchMs: number | undefined) => ({
  refetchInterval: refetchMs === undefined ? (false as const) : createInterval(() => true, refetchMs),
})

/** Runs a query document. The operation and the variables identify the result in the cache. */
export function useRead<Result, Variables extends Values>(
  document: TypedDocument<Result, Variables>,
  variables: Variables,
  options: ReadOptions<Result> = {},
): UseQueryResult<Result> {
  const { isEnabled = true, keepsPrevious = false, isSensitive = false, refetchMs } = options
  const isLiveWhile = options.isLive === true ? () => true : options.isLiveWhile
  return useQuery({
    ...describeRead(document, variables),
    enabled: isEnabled,
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
    ...(isSensitive ? { gcTime: 0 } : {}),
    ...(isLiveWhile === undefined ? repeatAfter(refetchMs) : createLiveOptions(isLiveWhile, refetchMs)),
  })
}

/** Runs the same query for each of a few objects, such as the applications of a project. */
export function useReads<Result, Variables extends Values>(
  document: TypedDocument<Result, Variables>,
  list: readonly Variables[],
  { refetchMs }: Pick<ReadOptions, 'refetchMs'> = {},
): UseQueryResult<Result>[] {
  return useQueries({
    queries: list.map((variables) => ({
      ...describeRead(document, variables),
      ...repeatAfter(refetchMs),
    })),
  })
}

/**
 * Sends a mutation. Afterwards, all queries of the visible page run again, because a change can affect any of them.
 */
export function useChange<Result, Variables extends Values>(
  document: TypedDocument<Result, Variables>,
): UseMutationResult<Result, Error, Variables> {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (variables: Variables) => graphql(connection, document, variables),
    onSuccess: () => client.invalidateQueries(),
    // Show the failure immediately: after a lost connection, the queries can take a long time.
    onError: () => void client.invalidateQueries(),
  })
}
