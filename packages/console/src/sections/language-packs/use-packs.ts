// Reads the packs of the project, and the contents of those that the page shows.
import { graphql } from '@manager/client'
import { type QueryClient, useQueries } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { useAllRows } from '../../api/all-rows.ts'
import { connection } from '../../api/connection.ts'
import { useProject } from '../../app/project.tsx'
import { packContentDocument, packListDocument } from '../../generated/documents.ts'
import type { Content, Contents, Pack } from './pack-types.ts'

const describeContent = (id: string) => ({
  queryKey: [packContentDocument, { id }],
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Content> => {
    const { languagePack } = await graphql(connection, packContentDocument, { id }, { signal })
    return {
      revision: languagePack.revision,
      values: new Map(languagePack.content.map(({ Key, Value }) => [Key, Value])),
    }
  },
})

/** Reads the list of packs, which has no contents. */
export function usePackList() {
  const { id } = useProject()
  const { data, error, refetch } = useAllRows({
    document: packListDocument,
    variables: { project: id },
    select: (result) => result.languagePacksConnection,
  })
  return { packs: data?.rows, error, refetch: () => void refetch() }
}

type ContentsRead = {
  readonly contents: Contents
  readonly error: Error | null
  readonly refetch: () => void
}

/** Reads the contents of packs. A content is read again when the list reports another revision. */
export function useContents(packs: readonly Pack[]): ContentsRead {
  const { list, reads, error } = useQueries({
    queries: packs.map(({ id }) => ({ ...describeContent(id), staleTime: Infinity })),
    combine: (reads) => ({
      list: reads.map(({ data }) => data),
      error: reads.find(({ error, data }) => error !== null && data === undefined)?.error ?? null,
      reads,
    }),
  })
  const contents = useMemo(
    () =>
      new Map(
        packs.flatMap(({ id }, index) => {
          const content = list[index]
          return content === undefined ? [] : [[id, content] as const]
        }),
      ),
    [packs, list],
  )
  // Each revision is requested once, because the request can fail, or return an older revision.
  const requested = useRef(new Map<string, number>())
  useEffect(() => {
    for (const [index, { id, revision }] of packs.entries()) {
      const read = reads[index]
      if (read?.data === undefined || read.isFetching || read.data.revision >= revision) continue
      if (requested.current.get(id) === revision) continue
      requested.current.set(id, revision)
      void read.refetch()
    }
  }, [packs, reads])
  return {
    contents,
    error,
    refetch: () => {
      for (const read of reads) if (read.error !== null) void read.refetch()
    },
  }
}

/** Returns the contents that the cache has. */
export const readCachedContents = (client: QueryClient, ids: readonly string[]): Contents =>
  new Map(
    ids.flatMap((id) => {
      const content = client.getQueryData<Content>(describeContent(id).queryKey)
      return content === undefined ? [] : [[id, content] as const]
    }),
  )

/** Reads contents again, and returns them. */
export async function refetchContents(client: QueryClient, ids: readonly string[]): Promise<Contents> {
  const contents = await Promise.all(
    ids.map(async (id) => [id, await client.fetchQuery({ ...describeContent(id), staleTime: 0 })] as const),
  )
  return new Map(contents)
}

/** Stores a content after a change, so that it does not have to be read again. */
export const cacheContent = (client: QueryClient, id: string, content: Content): void =>
  void client.setQueryData(describeContent(id).queryKey, content)

/** Reads the list of packs again. The contents are in the cache already. */
export const refetchList = (client: QueryClient): Promise<void> =>
  client.invalidateQueries({ queryKey: [packListDocument] })
