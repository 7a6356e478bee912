// The official client's way through the gateway that OPENAI_BASE_URL and OPENAI_API_KEY name. Prints what it met, as JSON.

import OpenAI from 'openai'

const PROMPT = 'a large red circle on a white background'
const client = new OpenAI({ maxRetries: 0 })

const generate = (fields) => client.images.generate({ prompt: PROMPT, ...fields })

async function withHeaders(fields) {
  const { data, response } = await generate(fields).withResponse()
  const header = (name) => response.headers.get(name)
  return {
    picture: data.data[0].b64_json,
    charged: header('x-maquette-gpu-ms-charged'),
    cache: header('cache-status'),
  }
}

async function link() {
  const answer = await generate({ response_format: 'url', output_format: 'jpeg' })
  const response = await fetch(answer.data[0].url)
  const bytes = Buffer.from(await response.arrayBuffer())
  return { type: response.headers.get('content-type'), picture: bytes.toString('base64') }
}

async function refusal(asked) {
  try {
    await asked()
  } catch (error) {
    const kinds = Object.entries(OpenAI).filter(([, kind]) => kind === error.constructor)
    return { kind: kinds.map(([name]) => name).join(), status: error.status, code: error.code, param: error.param }
  }
  return { kind: 'none' }
}

const models = []
for await (const model of client.models.list()) models.push(model.id)

const plain = await generate({ size: '64x64' })
const together = await generate({ n: 3, seed: 100, cache: 'never' })
const alone = []
for (const seed of [100, 101, 102]) alone.push(await generate({ seed, cache: 'never' }))
const stranger = new OpenAI({ apiKey: 'sk-no', maxRetries: 0 })

console.log(JSON.stringify({
  models,
  plain: { picture: plain.data[0].b64_json, tokens: plain.usage.output_tokens, gpuMs: plain.maquette.gpu_ms },
  link: await link(),
  together: together.data.map((datum) => datum.b64_json),
  alone: alone.map((answer) => answer.data[0].b64_json),
  first: await withHeaders({ seed: 2029 }),
  second: await withHeaders({ seed: 2029 }),
  refusals: {
    key: await refusal(() => stranger.images.generate({ prompt: PROMPT })),
    model: await refusal(() => generate({ model: 'dall-e-3' })),
    size: await refusal(() => generate({ size: '65x64' })),
    words: await refusal(() => generate({ prompt: 'a photo of an astronaut' })),
  },
}))
