// The response of a test call, redacted by the API as in the call log.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useCan, useProject } from '../../app/project.tsx'
import { hasSection } from '../../app/sections.ts'
import type { EsbTestCallResult } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { CodeView } from '../../kit/code.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { Section, SectionText } from '../../kit/section.tsx'
import { Facts, Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Endpoint } from './endpoint-types.ts'

type Result = EsbTestCallResult['testEndpoint']
type TestCallResultProps = {
  endpoint: Endpoint
  host: string
  result: Result
  onAgain: () => void
  onClose: () => void
}

/** The status of a response with its meaning as color and icon. */
function ResponseStatus({ status }: { status: number | null }): ReactNode {
  const t = useText()
  if (status === null)
    return (
      <Badge tone="danger" icon="danger">
        {t('esb.noResponse')}
      </Badge>
    )
  if (status >= 500)
    return (
      <Badge tone="danger" icon="danger">
        {status}
      </Badge>
    )
  return status >= 400 ? (
    <Badge tone="warn" icon="warning">
      {status}
    </Badge>
  ) : (
    <Badge tone="ok" icon="check">
      {status}
    </Badge>
  )
}

export function TestCallResult({ endpoint, host, result, onAgain, onClose }: TestCallResultProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { responseStatus, durationMs, failure, requestId, transformationApplied } = result
  return (
    <Dialog
      title={t('esb.resultTitle', host)}
      width={640}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onAgain}>{t('esb.again')}</Button>
          <Button variant="primary" hasAutoFocus onPress={onClose}>
            {t('kit.close')}
          </Button>
        </>
      }
    >
      <Facts
        items={[
          { label: t('esb.status'), value: <ResponseStatus status={responseStatus} /> },
          { label: t('esb.duration'), value: t('esb.milliseconds', number(durationMs)) },
          {
            label: t('esb.template'),
            value: t(transformationApplied ? 'esb.wasRendered' : 'esb.wasUnchanged'),
          },
          {
            label: t('esb.requestId'),
            value: (
              <span className="esb-caller">
                <Id value={requestId} isWhole />
                <LogLink endpoint={endpoint} requestId={requestId} />
              </span>
            ),
          },
        ]}
      />
      {failure !== null && (
        <Note tone="danger">
          <strong>{t('esb.failed')}</strong> {failure}
        </Note>
      )}
      <Response result={result} />
    </Dialog>
  )
}

function LogLink({ endpoint, requestId }: { endpoint: Endpoint; requestId: string }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const canRead = useCan('ESB_AUDIT_READ')
  return canRead && hasSection('calls') ? (
    <Link
      to={`/p/${slug}/calls` as '/'}
      search={{ application: endpoint.application.id, endpoint: endpoint.id, request: requestId } as never}
    >
      {t('esb.showInLog')}
    </Link>
  ) : null
}

function Response({ result: { responseHeaders, responseBody } }: { result: Result }): ReactNode {
  const t = useText()
  if (responseHeaders === null && responseBody === null) return null
  const headers = (responseHeaders ?? []).map(({ name, value }) => `${name}: ${value}`).join('\n')
  return (
    <>
      <Section title={t('esb.responseHeaders')}>
        {headers === '' ? (
          <SectionText>{t('esb.none')}</SectionText>
        ) : (
          <CodeView label={t('esb.responseHeaders')} text={headers} />
        )}
      </Section>
      <Section title={t('esb.responseBody')}>
        {responseBody === null || responseBody === '' ? (
          <SectionText>{t('esb.none')}</SectionText>
        ) : (
          <CodeView label={t('esb.responseBody')} text={responseBody} />
        )}
      </Section>
    </>
  )
}
