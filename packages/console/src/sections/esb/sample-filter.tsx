// Chooses the logged call whose body is the sample.
import type { ReactNode } from 'react'
import { Select } from '../../kit/form.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Sample } from './use-sample.ts'

const own = '*'

export function SampleFilter({ sample }: { sample: Sample }): ReactNode {
  const t = useText()
  const { exact } = useFormat()
  const { calls, callId, chooseCall } = sample
  if (calls === undefined) return null
  const options = calls.map(({ id, timestamp, method, responseStatus }) => ({
    id,
    text: exact(timestamp),
    hint: `${method} ${responseStatus ?? '–'}`,
  }))
  const older =
    callId === null || options.some(({ id }) => id === callId)
      ? []
      : [{ id: callId, text: t('esb.olderCall') }]
  return (
    <Select
      label={t('esb.sample')}
      isChip
      value={callId ?? own}
      options={[{ id: own, text: t('esb.ownSample') }, ...older, ...options]}
      onChange={(id) => chooseCall(id === own ? null : id)}
    />
  )
}
