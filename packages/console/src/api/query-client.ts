// The cache for queries. @manager/client retries requests itself, so the cache does not.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { reportError, reportSuccess } from './connection-state.ts'
import { canReadOnReconnect } from './live-reads.ts'

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: reportError, onSuccess: reportSuccess }),
  mutationCache: new MutationCache({ onError: reportError, onSuccess: reportSuccess }),
  defaultOptions: {
    // A request without a connection fails immediately, so that the page can report it.
    queries: {
      retry: false,
      staleTime: 10_000,
      networkMode: 'always',
      refetchOnReconnect: canReadOnReconnect,
    },
    // Discard the result of a mutation as soon as no component uses it.
    mutations: { retry: false, networkMode: 'always', gcTime: 0 },
  },
})
