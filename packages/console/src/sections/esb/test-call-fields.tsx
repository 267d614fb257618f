// The fields of a test call.
import type { ReactNode } from 'react'
import { Select, TextField } from '../../kit/form.tsx'
import { useText } from '../../texts/language.tsx'
import type { AccessRow } from './endpoint-types.ts'
import { type TestRequest, hasBody, testMethods } from './test-request.ts'

type TestCallFieldsProps = {
  request: TestRequest
  callers: readonly AccessRow['machineUser'][]
  onChange: (changes: Partial<TestRequest>) => void
}

export function TestCallFields({ request, callers, onChange }: TestCallFieldsProps): ReactNode {
  const t = useText()
  return (
    <>
      <Select
        label={t('esb.caller')}
        hint={t('esb.callerHint')}
        placeholder={t('app.choose')}
        value={request.machineUserId}
        options={callers.map(({ id, name, environment }) => ({ id, text: name, hint: environment.name }))}
        onChange={(machineUserId) => onChange({ machineUserId })}
        isRequired
      />
      <div className="esb-columns">
        <Select
          label={t('esb.method')}
          value={request.method}
          options={testMethods.map((id) => ({ id, text: id }))}
          onChange={(id) => onChange({ method: testMethods.find((method) => method === id) ?? 'POST' })}
        />
        <TextField
          name="query"
          label={t('esb.query')}
          placeholder="a=1&b=2"
          value={request.query}
          onChange={(query) => onChange({ query: query.startsWith('?') ? query.slice(1) : query })}
          isMono
        />
      </div>
      <TextField
        name="headers"
        label={t('esb.headers')}
        hint={t('esb.headersHint')}
        value={request.headers}
        onChange={(headers) => onChange({ headers })}
        lines={2}
        isMono
      />
      {hasBody(request.method) && (
        <TextField
          name="body"
          label={t('esb.body')}
          hint={t('esb.bodyHint')}
          value={request.body}
          onChange={(body) => onChange({ body })}
          lines={8}
          isMono
        />
      )}
    </>
  )
}
