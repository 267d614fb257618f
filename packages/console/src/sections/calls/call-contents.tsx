// The headers and bodies of a call as they were logged. Secrets with known names are already redacted.
import type { ReactNode } from 'react'
import { CodeView } from '../../kit/code.tsx'
import { Section, SectionText } from '../../kit/section.tsx'
import { VisibleText } from '../../kit/visible-text.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { CallDetail } from './call.ts'

type HeaderList = CallDetail['requestHeaders']

export function CallContents({ call }: { call: CallDetail }): ReactNode {
  const t = useText()
  const { requestHeaders, requestBody, responseHeaders, responseBody } = call
  const isLogged = [requestHeaders, requestBody, responseHeaders, responseBody].some((part) => part !== null)
  if (!isLogged)
    return (
      <Section title={t('calls.contents')}>
        <SectionText>{t('calls.notLogged', call.calledEndpoint.logLevel)}</SectionText>
      </Section>
    )
  return (
    <>
      <Headers title={t('calls.requestHeaders')} headers={requestHeaders} />
      <Body
        title={t('calls.requestBody')}
        text={requestBody}
        note={call.transformationApplied ? t('calls.beforeTemplate') : undefined}
      />
      {responseHeaders === null && responseBody === null ? (
        <Section title={t('calls.response')}>
          <SectionText>{t('calls.noPartnerResponse')}</SectionText>
        </Section>
      ) : (
        <>
          <Headers title={t('calls.responseHeaders')} headers={responseHeaders} />
          <Body title={t('calls.responseBody')} text={responseBody} />
        </>
      )}
    </>
  )
}

function Headers({ title, headers }: { title: string; headers: HeaderList }): ReactNode {
  const { number } = useFormat()
  if (headers === null) return null
  return (
    <Section title={title} note={number(headers.length)}>
      <dl className="call-headers">
        {headers.map(({ name, value }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- a header can be repeated with the same value
          <div key={index} className="call-header">
            <dt>
              <VisibleText text={name} />
            </dt>
            <dd>
              <VisibleText text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

type BodyProps = { title: string; text: string | null; note?: string | undefined }

function Body({ title, text, note }: BodyProps): ReactNode {
  const t = useText()
  if (text === null) return null
  return (
    <Section title={title} note={note}>
      {text === '' ? (
        <SectionText>{t('calls.emptyBody')}</SectionText>
      ) : (
        // The section already has the title as its name.
        <CodeView label={t('calls.asLogged', title)} text={text} />
      )}
    </Section>
  )
}
