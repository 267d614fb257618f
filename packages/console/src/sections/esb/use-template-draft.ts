// The template that a person edits, and the saved one that it is based on.
import { useState } from 'react'
import { useMay } from '../../app/project.tsx'
import { type Submit, useSubmit } from '../../app/use-submit.ts'
import { type EsbUpdateEndpointResult, esbUpdateEndpointDocument } from '../../generated/documents.ts'
import type { Endpoint } from './endpoint-types.ts'

type Base = { readonly template: string; readonly revision: number }
export type TemplateDraft = {
  readonly text: string
  readonly base: Base
  readonly isDirty: boolean
  readonly setText: (text: string) => void
  readonly revert: () => void
  /** Saves the text, by default based on the version that the person has seen. */
  readonly save: (onSaved: () => void, revision?: number) => void
  readonly submit: Pick<Submit<EsbUpdateEndpointResult, never>, 'isPending' | 'failure' | 'reset'>
  /** Discards the text and shows the saved template. */
  readonly adopt: () => void
}

const toBase = ({ transformationTemplate: template, revision }: Endpoint): Base => ({ template, revision })

export function useTemplateDraft(endpoint: Endpoint): TemplateDraft {
  const canSave = useMay('esb.saveTemplate')
  const [base, setBase] = useState(() => toBase(endpoint))
  const [text, setText] = useState(base.template)
  const { send, isPending, failure, reset } = useSubmit(esbUpdateEndpointDocument)
  const adopt = (): void => {
    setBase(toBase(endpoint))
    setText(endpoint.transformationTemplate)
    reset()
  }
  /** The failure belongs to the text that could not be saved. */
  const change = (next: string): void => {
    if (failure !== null) reset()
    setText(next)
  }
  const isChanged = text !== base.template
  // Another person has changed the endpoint, and this person has nothing to lose.
  if (endpoint.revision > base.revision && !isChanged && !isPending) {
    setBase(toBase(endpoint))
    setText(endpoint.transformationTemplate)
  }
  return {
    text,
    base,
    isDirty: canSave && isChanged,
    setText: change,
    revert: () => change(base.template),
    save: (onSaved, revision = base.revision) =>
      send(
        { id: endpoint.id, input: { transformationTemplate: text, expectedRevision: revision } },
        ({ endpoint: saved }) => {
          setBase({ template: text, revision: saved.revision })
          onSaved()
        },
      ),
    submit: { isPending, failure, reset },
    adopt,
  }
}
