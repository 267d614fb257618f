// The backends that registered with a machine user, at most one for each application.
import { useMemo } from 'react'
import { useBatchedReads } from '../../api/batched-reads.ts'
import { useApplicationNames } from '../../app/applications.ts'
import { useCan } from '../../app/project.tsx'

type Backend = {
  readonly id: string
  readonly version: string
  readonly isLive: boolean
  readonly lastHeartbeat: string
}
type MachineBackend = Backend & {
  readonly application: { readonly id: string; readonly name: string }
}

const fields = {
  backends:
    'backends(applicationId: $id, filters: [{ field: "machineUserId", value: $machineUser }], pagination: { limit: 1, offset: 0 }) { id version isLive lastHeartbeat }',
}

type MachineBackends = {
  readonly items: readonly MachineBackend[] | undefined
  readonly error: Error | null
  readonly refetch: () => void
}

export function useMachineBackends(machineUserId: string): MachineBackends {
  const isEnabled = useCan('BACKEND_READ')
  const names = useApplicationNames()
  const applications = names.data?.rows
  const backends = useBatchedReads<{ backends: readonly Backend[] }>({
    name: 'backends-of-machine-user',
    ids: useMemo(() => (applications ?? []).map(({ id }) => id), [applications]),
    fields,
    texts: useMemo(() => ({ machineUser: machineUserId }), [machineUserId]),
    isEnabled,
  })
  const items = useMemo(() => {
    if (applications?.length === 0) return []
    if (backends.data === undefined) return undefined
    return applications?.flatMap((application) =>
      (backends.data.get(application.id)?.backends ?? []).map((backend) => ({ ...backend, application })),
    )
  }, [applications, backends.data])
  return {
    items,
    error: names.error ?? backends.error,
    refetch: () => {
      for (const read of [names, backends]) if (read.isError) void read.refetch()
    },
  }
}
