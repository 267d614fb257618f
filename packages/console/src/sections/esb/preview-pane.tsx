// The sample body and the result of rendering it.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useListSearch } from '../../app/list-search.ts'
import { IconButton } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { FailureNote } from '../../kit/state.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { CodeEditor } from './code-editor-on-demand.ts'
import type { Endpoint } from './endpoint-types.ts'
import { SampleFilter } from './sample-filter.tsx'
import { findBodyLanguage } from './template-problems.ts'
import type { Preview } from './use-preview.ts'
import type { Sample } from './use-sample.ts'

/** Longer results are cut, because the browser draws them again after every change. */
const maxShown = 200_000

type PreviewPaneProps = {
  endpoint: Endpoint
  sample: Sample
  preview: Preview
  /** Whether there is no template to render. */
  isEmpty: boolean
}

export function PreviewPane({ endpoint, sample, preview, isEmpty }: PreviewPaneProps): ReactNode {
  const t = useText()
  const { search, setFilter } = useListSearch()
  const view = search['view'] === 'sample' ? 'sample' : 'preview'
  return (
    <section className="template-pane" aria-label={t('esb.preview')}>
      <div className="template-pane-head">
        <Segments
          label={t('esb.view')}
          items={[
            { id: 'sample', text: t('esb.sampleBody') },
            { id: 'preview', text: t('esb.preview') },
          ]}
          selected={view}
          onSelect={(id) => setFilter({ view: id === 'sample' ? id : undefined })}
        />
        <SampleFilter sample={sample} />
        <span className="template-pane-end">
          <IconButton
            icon="refresh"
            size="small"
            action="esb.preview"
            label={t('esb.renderAgain')}
            onPress={preview.refetch}
          />
        </span>
      </div>
      {sample.isMissing && <Note tone="info">{t('esb.sampleMissing')}</Note>}
      {sample.error !== null && <FailureNote failure={describeFailure(sample.error)} />}
      <div className="template-pane-body">
        {view === 'sample' ? (
          <CodeEditor
            label={t('esb.sampleBody')}
            value={sample.body}
            language={findBodyLanguage(endpoint.inputMessageType, sample.body)}
            onChange={sample.setBody}
          />
        ) : (
          <Result preview={preview} isEmpty={isEmpty} />
        )}
      </div>
      <p className="template-pane-note">
        <State preview={preview} isEmpty={isEmpty} />
      </p>
    </section>
  )
}

function State({ preview, isEmpty }: Pick<PreviewPaneProps, 'preview' | 'isEmpty'>): ReactNode {
  const t = useText()
  if (isEmpty) return t('esb.sentUnchanged')
  if (preview.isStale) return t('esb.rendering')
  return preview.result === undefined ? t('esb.notRendered') : t('esb.rendered', preview.result.contentType)
}

function Result({ preview, isEmpty }: Pick<PreviewPaneProps, 'preview' | 'isEmpty'>): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { result, failure, refetch } = preview
  if (failure !== null) return <FailureNote failure={failure} onRetry={refetch} />
  if (isEmpty) return <p className="template-empty">{t('esb.noTemplate')}</p>
  if (result === undefined) return null
  const { output, contentType } = result
  return (
    <>
      {output.length > maxShown && <Note tone="info">{t('esb.cut', number(maxShown))}</Note>}
      <CodeEditor
        label={t('esb.preview')}
        value={output.slice(0, maxShown)}
        language={contentType.includes('xml') ? 'xml' : 'json'}
      />
    </>
  )
}
