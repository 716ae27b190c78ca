"""The service of classes alone, as a process: what stands around it takes long to start, and tests/server has it."""

import os


def serve(port: int, folder: str) -> None:
    os.environ |= {"HEADLIGHT_CLASSES": folder, "HEADLIGHT_REDIS": ""}
    import uvicorn
    from starlette.responses import PlainTextResponse

    from server.attempts import Attempts
    from server.classroom.routes import Classroom

    app = Classroom(PlainTextResponse("the app"), Attempts())
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")
